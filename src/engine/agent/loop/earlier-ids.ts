import { isOwnId } from '../../../core/event/own-id.ts'

/**
 * The most call ids of models that a session remembers, so that what is stored of a long log stays small. Once there are as many,
 * every id of a model counts as taken, and the framework gives each further call an id of its own. Such ids are random, so that none
 * can be repeated.
 */
export const MAX_MODEL_IDS = 512

/** The most characters of a call id that providers accept. */
export const MAX_CALL_ID = 64

/** Ids as a checkpoint keeps them. `all`: every id of a model is taken. */
export type StoredIds = readonly string[] | 'all'

/** What a checkpoint must keep of these ids: none of the framework, because no model and no client may send one. */
export function storedIds(ids: Iterable<string> | undefined, modelIds: number): StoredIds {
  return modelIds >= MAX_MODEL_IDS ? 'all' : Array.from(ids ?? []).filter((id) => !isOwnId(id))
}
