// What an MCP server may send and ask for. Every limit of `McpToolset` that is not an option is here, and in
// docs/reference/limits.md.

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The most bytes of one message. */
export const MAX_MESSAGE_BYTES: number = 32 * 1024 * 1024
/** The most requests of a server that wait for our answer at the same time. Further ones are dropped. */
export const MAX_SERVER_REQUESTS = 100
/** The most HTTP responses of one connection that are open at the same time. */
export const MAX_OPEN_RESPONSES = 500
/** How often a stream of events is opened within a minute: a server may end it again and again. */
export const MAX_STREAMS_PER_MINUTE = 60
/** How often a server is started or connected within a minute. */
export const MAX_OPENS_PER_MINUTE = 5
/** How long a call waits for its answer after the HTTP response has ended, in milliseconds. */
export const AFTER_RESPONSE_MS: number = SECOND / 2
/** How long ending the session at the server may take when a connection closes, in milliseconds. */
export const TERMINATE_MS: number = SECOND
/** How long a server may take to say that it still knows a session, in milliseconds. */
export const PING_MS: number = 5 * SECOND
/** A session that is younger than this, in milliseconds, and has never answered a request is not taken for a lost one. */
export const NEW_SESSION_MS: number = 5 * SECOND
/** A connection of one user is closed when it was not used for this long, in milliseconds. */
export const IDLE_MS: number = 10 * MINUTE
/** How long a local server may take to exit after its stdin was closed, and again after SIGTERM, in milliseconds. */
export const EXIT_MS: number = SECOND / 2
/** How much of the last output of a local server on stderr is kept for errors, in characters. */
export const MAX_STDERR = 4_000

/** The most pages of a list of tools. */
export const MAX_PAGES = 100
/** The most tools of a server. */
export const MAX_TOOLS = 500
/** The most bytes of the definition of a tool. */
export const MAX_DEFINITION_BYTES = 256_000
/** The longest name of a tool at the server. */
export const MAX_NAME_LENGTH = 256
/** How long listing all pages may take, in milliseconds, if `connectTimeoutMs` is not longer. */
export const LIST_MS: number = 20 * SECOND
/** The list is read again at most this often after the server has reported changes, in milliseconds. */
export const RELIST_MS: number = SECOND
/** The most reasons for tools that are left out, in one listing. */
export const MAX_PROBLEMS = 50
/** The most characters of one warning. */
export const MAX_WARNING_LENGTH = 1_000

/** The most content blocks of one result. */
export const MAX_BLOCKS = 10_000
/** The most images, sounds and files of one result. */
export const MAX_MEDIA = 20
/** The most characters of base64 of all media of one result. */
export const MAX_MEDIA_LENGTH: number = 16 * 1024 * 1024
/** The most resources, templates or prompts that a list shows. */
export const MAX_LISTED = 200
/** Progress of one call is shown at most this often, in milliseconds. */
export const PROGRESS_MS = 50
/** The most characters of one progress message. */
export const MAX_PROGRESS_LENGTH = 1_000
/** The longest call, also with progress, in milliseconds. */
export const MAX_CALL_MS: number = 24 * HOUR

/** How long a connection of the 2025 protocol is held while a human answers, in milliseconds. Then the question is declined. */
export const OPEN_CALL_MS: number = 5 * MINUTE
/** The most calls of one toolset that are held at the same time. Further questions are declined at once. */
export const MAX_OPEN_CALLS = 100
/** How long a question of the 2025 protocol waits until only one call is under way, which must be the one that asks. */
export const WHO_ASKS_MS: number = 2 * SECOND
/** How long a server may still ask for a call that was cancelled, in milliseconds. Other users are not asked meanwhile. */
export const ABANDONED_MS: number = MINUTE
/** How often a server may ask in one call. */
export const MAX_ROUNDS = 10
/** How many questions a server may ask at once. */
export const MAX_QUESTIONS = 10
/** The most characters of a question. */
export const MAX_QUESTION_LENGTH = 4_000
/** The most bytes of the schema of a question. */
export const MAX_QUESTION_BYTES = 64_000

/** How many sampling requests one call may make. */
export const MAX_SAMPLES = 10
/** The most bytes of one sampling request. */
export const MAX_SAMPLE_BYTES: number = 4 * 1024 * 1024
/** The most tokens of one reply to a sampling request, also if the server asks for more. */
export const MAX_SAMPLE_TOKENS = 8_192
