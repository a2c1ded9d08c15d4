/**
 * Returns milliseconds, about Unix time, that no change of the machine's clock affects. Not for a Lambda function:
 * this clock may stand still while its environment is frozen.
 */
export const steadyNow = (): number => performance.timeOrigin + performance.now();
