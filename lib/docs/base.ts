/** Stands in the built pages for the path of the stage's API, such as `/api` or `/prod`. */
export const placeholderBase = "/path-of-the-api";
