/** How libsignal begins what it writes to the console; most of it is followed by private keys. */
const openings = [
  "Closing session",
  "Opening session",
  "Removing old closed session",
  "Session already",
  "Closing open session",
  "Decrypted message with closed session",
  "Failed to decrypt message with any known session",
  "Session error:",
];

/** Keeps libsignal from writing to this process's console, and nothing else. @returns how to undo it. */
export const muteSignal = (): (() => void) => {
  const methods = ["log", "info", "warn", "error"] as const;
  const originals = methods.map((method) => console[method]);
  for (const [index, method] of methods.entries())
    console[method] = (...said: unknown[]) => {
      if (!openings.some((opening) => String(said[0]).startsWith(opening))) originals[index]?.(...said);
    };
  return () => {
    for (const [index, method] of methods.entries()) {
      const original = originals[index];
      if (original) console[method] = original;
    }
  };
};
