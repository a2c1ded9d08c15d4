/** The icon in the browser's tab. Without one every browser asks for /favicon.ico. */
export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">' +
  '<rect width="24" height="24" rx="5" fill="#1c5fa8"/>' +
  '<path fill="#fff" d="M6 6.5h12v8.5h-7L7 18.5V15H6z"/></svg>';
