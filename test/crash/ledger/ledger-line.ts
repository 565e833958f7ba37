/** What the outside world knows: what callers were given and sent, and what tools have done. One line of the ledger. */
export type LedgerLine = { readonly app: string; readonly sessionId: string } & (
  | { readonly type: 'got'; readonly eventId: string }
  | { readonly type: 'answered'; readonly requestId: string }
  | { readonly type: 'posted'; readonly note: string }
  | { readonly type: 'failed'; readonly code: string; readonly message: string }
  | { readonly type: 'body' | 'effect' | 'reconciled'; readonly tool: string; readonly key: string }
)

/** What the ledger answers to a line about an effect. */
export interface LedgerReply {
  /** Is it the first effect with this key? To `reconciled`: has there been none? */
  readonly isNew: boolean
}
