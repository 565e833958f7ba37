/** A span of a trace, as the header `traceparent` of W3C names it. */
export interface SpanReference {
  /** The trace: 32 hexadecimal digits. */
  readonly traceId: string
  /** The span: 16 hexadecimal digits. */
  readonly spanId: string
  /** Bit 0: the trace is recorded. */
  readonly traceFlags: number
}

const PATTERN = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** The span that a `traceparent` names. Undefined if it is malformed, or of another version. */
export function readTraceparent(text: string | undefined): SpanReference | undefined {
  const [, traceId, spanId, flags] = PATTERN.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 }
}

/** The `traceparent` that names a span. */
export function writeTraceparent({ traceId, spanId, traceFlags }: SpanReference): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`
}
