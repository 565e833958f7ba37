// Fixed limits. Limits that a developer may want to change are options of the Runner.

/** Bytes of one user message, one model reply, or the media of one result. 20 MB of media fit as base64. */
export const MAX_CONTENT_BYTES: number = 32 * 1024 * 1024

/** Bytes of one model reply as sent, before the model adapter parses it. */
export const MAX_REPLY_BYTES: number = 64 * 1024 * 1024

/** Media with more bytes is recorded as a reference to an artifact, if there is an artifact service. */
export const MAX_INLINE_MEDIA_BYTES: number = 32 * 1024

/** Bytes of media in one model request: as much as one message may have. The default of a Runner option. */
export const MAX_REQUEST_MEDIA_BYTES: number = (MAX_CONTENT_BYTES / 4) * 3

/** Files in one model request. The default of a Runner option. */
export const MAX_REQUEST_MEDIA_FILES = 64

/** A stored file is sent with this many later user messages, unless the agent has a tool to load it again. */
export const MEDIA_TURNS = 3

/** Bytes of the state that one event may write. */
export const MAX_STATE_DELTA_BYTES = 10_000_000

/** Bytes of the metadata of one event or artifact, and of the payload and schema of one request. */
export const MAX_METADATA_BYTES = 256_000

/** Characters of an error message, and of the hint of a request. */
export const MAX_MESSAGE_LENGTH = 8_000

/** Characters of a filename, and of a tool name from a model. */
export const MAX_NAME_LENGTH = 256

/** Pending requests that one attempt of a tool body may make. */
export const MAX_REQUESTS = 64

/** Items in the inbox of one session. */
export const MAX_INBOX_ITEMS = 1_000

/** Cuts a text to `maxLength` characters. */
export function clip(text: string, maxLength: number = MAX_MESSAGE_LENGTH): string {
  return text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}...` : text
}
