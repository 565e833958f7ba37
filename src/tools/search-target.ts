import { ToolwrightError } from '../error/error.ts'

/** What is searched: one of the two, by its full resource name. */
export interface SearchTargetOptions {
  /** `projects/P/locations/L/collections/C/dataStores/S` */
  readonly dataStoreId?: string | undefined
  /** `projects/P/locations/L/collections/C/engines/E` */
  readonly searchEngineId?: string | undefined
}

export interface SearchTarget {
  readonly resource: string
  readonly location: string
}

export function searchTarget(what: string, { dataStoreId, searchEngineId }: SearchTargetOptions): SearchTarget {
  if ((dataStoreId === undefined) === (searchEngineId === undefined)) {
    throw new ToolwrightError('INVALID_CONFIG', `${what} needs either dataStoreId or searchEngineId, not both.`)
  }
  const resource = (dataStoreId ?? searchEngineId) as string
  const kind = dataStoreId === undefined ? 'engines' : 'dataStores'
  const form = new RegExp(`^projects/[\\w.:-]+/locations/([\\w-]+)/collections/[\\w-]+/${kind}/[\\w-]+$`)
  const location = form.exec(resource)?.[1]
  if (location === undefined) {
    const expected = `projects/P/locations/L/collections/C/${kind}/ID`
    throw new ToolwrightError('INVALID_CONFIG', `${what}: "${resource}" is no full resource name like ${expected}.`)
  }
  return { resource, location }
}
