// Names of MCP tools as models and our rules accept them.

import { REQUEST_PREFIX } from '../../core/event/request-names.ts'
import { digestOf } from '../../services/auth/digest.ts'

/** Every provider accepts these names. */
const ACCEPTED = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** Tools of the framework that a server must not replace. */
const RESERVED = new Set(['transfer_to_agent', 'set_model_response'])

const MAX_LENGTH = 64

/**
 * The name under which a model calls a tool of a server. A name that every provider accepts stays the same. Any other name
 * gets accepted characters and a part of its digest, so that two names do not become equal.
 */
export async function toToolName(serverName: string, prefix: string): Promise<string> {
  const name = prefix + serverName
  if (ACCEPTED.test(name) && !name.startsWith(REQUEST_PREFIX) && !RESERVED.has(name)) return name
  const suffix = `_${(await digestOf(name)).slice(0, 8)}`
  const readable = name.replace(/[^A-Za-z0-9_-]+/g, '_')
  const start = /^[A-Za-z_]/.test(readable) && !readable.startsWith(REQUEST_PREFIX) ? readable : `_${readable}`
  return start.slice(0, MAX_LENGTH - suffix.length) + suffix
}
