const encoder = new TextEncoder()

/** Characters that JSON leaves as they are, and that clients in other languages take for the end of a line. */
const LINE_ENDS = /[\u007f-\u009f\u2028\u2029]/g

/** One frame of an event stream: `data: <json>` and an empty line. No character of the value can end it early. */
export function encodeFrame(value: object): Uint8Array<ArrayBuffer> {
  const json = JSON.stringify(value).replace(LINE_ENDS, escapeCharacter)
  return encoder.encode(`data: ${json}\n\n`)
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
