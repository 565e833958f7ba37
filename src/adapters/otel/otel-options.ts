import { callback, checkOptions, flag, type OptionRules, oneOf } from '../../core/error/check-options.ts'
import type { ContentAttribute } from './names.ts'

/** Options of `otel()`. */
export interface OtelOptions {
  /**
   * Exports messages, instructions, arguments, results and error texts, each cut at 8 kB. Default: false, unless the environment variable
   * `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` is `true`, `SPAN_ONLY` or `SPAN_AND_EVENT`.
   */
  readonly captureContent?: boolean | undefined
  /** Changes content before it is exported. A value that it throws for is not exported. Default: content is exported as it is. */
  readonly redact?: ((content: unknown, attribute: ContentAttribute | 'error') => unknown) | undefined
  /** One trace for all runs of an invocation, also in other processes, or one for each run, with links. Default `invocation`. */
  readonly traces?: 'invocation' | 'run' | undefined
  /** The origins that MCP and OpenAPI tools send the trace context to, such as `https://api.example.com`. Default: none. */
  readonly propagateTo?: readonly string[] | undefined
  /** Exports the id of the user as `user.id`. Default false. */
  readonly captureUserId?: boolean | undefined
}

const RULES: OptionRules<OtelOptions> = {
  captureContent: flag,
  redact: callback,
  traces: oneOf('invocation', 'run'),
  propagateTo: {
    expects: 'a list of origins, such as https://api.example.com',
    accepts: (value) => Array.isArray(value) && value.every(isOrigin),
  },
  captureUserId: flag,
}

/** Checks the options of `otel()`. */
export function checkOtelOptions(options: OtelOptions): void {
  checkOptions('otel()', options, RULES)
}

function isOrigin(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value
}

/** Is content exported? */
export function capturesContent({ captureContent }: OtelOptions): boolean {
  if (captureContent !== undefined) return captureContent
  const { process } = globalThis as { process?: { env?: { [name: string]: string | undefined } } }
  const value = process?.env?.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.trim().toUpperCase()
  return value === 'TRUE' || value === 'SPAN_ONLY' || value === 'SPAN_AND_EVENT'
}
