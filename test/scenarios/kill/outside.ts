// How an agent reaches the outside world.

/** Somebody came to a point of their walk. */
export interface Visit {
  readonly point: string
  /** Of a call: its idempotency key. */
  readonly key?: string
  /** Of several processes at once, which. */
  readonly who?: string
  /** Of an event that was shown: what it is known by. */
  readonly shown?: { readonly sessionId: string; readonly id: string }
}

export type Reach = (visit: Visit) => Promise<{ readonly [key: string]: unknown }>

export function reachAt(url: string, who?: string): Reach {
  return async (visit) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ ...visit, who }) })
    return (await response.json()) as { readonly [key: string]: unknown }
  }
}
