/** Whether `Accept-Encoding` names the coding, and not with `q=0` (RFC 9110, 12.5.3). */
export const accepts = (acceptEncoding: string, coding: string): boolean =>
  acceptEncoding
    .toLowerCase()
    .split(",")
    .map((one) => one.split(";").map((part) => part.trim()))
    .some(([name, weight = ""]) => name === coding && !/^q=0(\.0*)?$/.test(weight));
