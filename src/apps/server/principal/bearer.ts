/** The bearer token of a request; undefined if it has none. */
export function bearerOf(request: Request): string | undefined {
  return /^Bearer +([\w.~+/-]+=*) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
}
