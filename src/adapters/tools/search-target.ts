import { ToolwrightError } from '../../core/error/error.ts'

/** The data store or app to search. Set exactly one of the two options, to a full resource name. */
export interface SearchTargetOptions {
  /** A data store: `projects/P/locations/L/collections/C/dataStores/S`. */
  readonly dataStoreId?: string | undefined
  /** A search app: `projects/P/locations/L/collections/C/engines/E`. */
  readonly searchEngineId?: string | undefined
}

/** A checked data store or app. */
export interface SearchTarget {
  /** The full resource name. */
  readonly resource: string
  /** The Google Cloud location in the name. */
  readonly location: string
}

/**
 * Returns the data store or app that the options name. Throws INVALID_CONFIG if they do not name exactly one. `what` is
 * the name of the tool in errors.
 */
export function searchTarget(what: string, { dataStoreId, searchEngineId }: SearchTargetOptions): SearchTarget {
  if ((dataStoreId === undefined) === (searchEngineId === undefined)) {
    const got = dataStoreId === undefined ? 'neither. Set one of them' : 'both. Remove one of them'
    const message = `${what}() needs exactly one of dataStoreId and searchEngineId, got ${got}.`
    throw new ToolwrightError('INVALID_CONFIG', message)
  }
  const resource = (dataStoreId ?? searchEngineId) as string
  const kind = dataStoreId === undefined ? 'engines' : 'dataStores'
  const form = new RegExp(`^projects/[\\w.:-]+/locations/([\\w-]+)/collections/[\\w-]+/${kind}/[\\w-]+$`)
  const location = form.exec(resource)?.[1]
  if (location === undefined) {
    const option = dataStoreId === undefined ? 'searchEngineId' : 'dataStoreId'
    const expected = `projects/P/locations/L/collections/C/${kind}/ID`
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${what}(): ${option} "${resource}" is not a full resource name. Use the form ${expected}.`,
    )
  }
  return { resource, location }
}
