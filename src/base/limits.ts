// Fixed limits of what is recorded. Those that a developer may want to change are options of the Runner.

/** Bytes of one user message, one model reply, or the media beside one result: 20 MB of media in base64 fit. */
export const MAX_CONTENT_BYTES: number = 32 * 1024 * 1024

/** Bytes of one reply on the wire, before a model adapter has read it. */
export const MAX_REPLY_BYTES: number = 64 * 1024 * 1024

/** Media with more bytes than this is recorded as a reference to an artifact, when there is a service for it. */
export const MAX_INLINE_MEDIA_BYTES: number = 32 * 1024

/** Bytes of the media of one model request, unless the Runner says otherwise: what one message may hold. */
export const MAX_REQUEST_MEDIA_BYTES: number = (MAX_CONTENT_BYTES / 4) * 3

/** Files of one model request, unless the Runner says otherwise. */
export const MAX_REQUEST_MEDIA_FILES = 64

/** Messages of the user after its own with which a stored file is sent, unless the agent can load it again. */
export const MEDIA_TURNS = 3

/** Bytes of the state that one event writes. */
export const MAX_STATE_DELTA_BYTES = 10_000_000

/** Bytes of the metadata of one event or artifact, and of the payload and schema of one request. */
export const MAX_METADATA_BYTES = 256_000

/** Characters of an error message, and of the hint of a request. */
export const MAX_MESSAGE_LENGTH = 8_000

/** Characters of a file name, and of a tool name that a model made up. */
export const MAX_NAME_LENGTH = 256

/** Requests that one attempt of a tool body may make. */
export const MAX_REQUESTS = 64

/** Items in the inbox of one session. */
export const MAX_INBOX_ITEMS = 1_000

/** The text, cut to `most` characters. */
export function clip(text: string, most: number = MAX_MESSAGE_LENGTH): string {
  return text.length > most ? `${text.slice(0, most).toWellFormed()}...` : text
}
