import { ToolwrightError } from '../error/error.ts'

/** The data store or app to search. Exactly one of the two is required, with its full resource name. */
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

/** The data store or app in the options. `what` names the tool in errors. Throws INVALID_CONFIG. */
export function searchTarget(what: string, { dataStoreId, searchEngineId }: SearchTargetOptions): SearchTarget {
  if ((dataStoreId === undefined) === (searchEngineId === undefined)) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${what}() needs either dataStoreId or searchEngineId, got ${dataStoreId === undefined ? 'neither' : 'both'}.`,
    )
  }
  const resource = (dataStoreId ?? searchEngineId) as string
  const kind = dataStoreId === undefined ? 'engines' : 'dataStores'
  const form = new RegExp(`^projects/[\\w.:-]+/locations/([\\w-]+)/collections/[\\w-]+/${kind}/[\\w-]+$`)
  const location = form.exec(resource)?.[1]
  if (location === undefined) {
    const expected = `projects/P/locations/L/collections/C/${kind}/ID`
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${what}(): "${resource}" is not a full resource name. Write it like ${expected}.`,
    )
  }
  return { resource, location }
}
