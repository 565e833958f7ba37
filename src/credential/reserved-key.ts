/** Prefixes of the framework's own records in a credential service: open consents and refresh locks. */
const RESERVED: readonly string[] = ['consent:', 'refresh:']

/** Is the key reserved for records of the framework? Tools can neither read nor write them. */
export function isReservedKey(key: string): boolean {
  return RESERVED.some((prefix) => key.startsWith(prefix))
}
