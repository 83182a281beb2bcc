// The least that is an image, and a sound.

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

export const png = { data: PIXEL, mimeType: "image/png" };
export const wav = { data: SILENCE, mimeType: "audio/wav" };
export const text = (words) => ({ type: "text", text: words });
