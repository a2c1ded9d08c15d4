// Loaded into the messenger's process on this machine: it must not outlive the one that started it,
// also when that one was killed.
process.stdin.on("close", () => process.exit(1)).resume();
