import { copyJson } from '../../core/base/json.ts'
import { isUserFilename } from '../../core/base/key-scope.ts'
import { systemPorts } from '../../core/base/ports.ts'
import type { Part } from '../../core/content/content.ts'
import { callback, checkOptions } from '../../core/error/check-options.ts'
import { pageOf, readPagePosition } from '../session/page.ts'
import type { Page, PageOptions, SessionKey } from '../session/service.ts'
import { checkFilename, checkNewArtifactKey, checkPart } from './check-artifact.ts'
import { mimeTypeOf } from './mime-type.ts'
import type { ArtifactKey, ArtifactService, ArtifactVersion } from './service.ts'
import { SortedNames } from './sorted-names.ts'

/** Keeps artifacts in the memory of this process. */
export class InMemoryArtifactService implements ArtifactService {
  /** Files by owner: a session or a user. */
  readonly #owners: Map<string, Files> = new Map()
  readonly #now: () => number

  constructor(options: { now?: (() => number) | undefined } = {}) {
    checkOptions('InMemoryArtifactService', options, { now: callback })
    this.#now = options.now ?? systemPorts.now
  }

  async saveArtifact(options: Parameters<ArtifactService['saveArtifact']>[0]): Promise<number> {
    const { filename, artifact, customMetadata } = options
    const owner = ownerOf(options)
    checkPart(artifact)
    checkNewArtifactKey(options)
    const mimeType = mimeTypeOf(artifact)
    const stored: Omit<Stored, 'version'> = {
      part: copyJson(artifact),
      createTime: this.#now() / 1000,
      ...(mimeType !== undefined && { mimeType }),
      ...(customMetadata && { customMetadata: copyJson(customMetadata) }),
    }
    const files = this.#owners.get(owner) ?? { names: new SortedNames(), versions: new Map() }
    const versions = files.versions.get(filename) ?? []
    const version = versions.push({ version: versions.length, ...stored }) - 1
    files.versions.set(filename, versions)
    files.names.add(filename)
    this.#owners.set(owner, files)
    return version
  }

  async loadArtifact(options: ArtifactKey & { version?: number | undefined }): Promise<Part | undefined> {
    return copyJson(this.#pick(options)?.part)
  }

  async listArtifactKeys(options: { appName: string; userId: string; sessionId: string }): Promise<string[]> {
    return this.#namesOf(options)
      .flatMap(({ all }) => all)
      .sort()
  }

  async listArtifactPage(options: SessionKey & PageOptions): Promise<Page<string>> {
    const { after, limit } = options
    readPagePosition({ limit })
    const names = this.#namesOf(options).flatMap((of) => of.after(after, limit + 1)) // one more: is there a next page?
    const items = names.sort().slice(0, limit)
    return items.length < names.length ? { items, next: items.at(-1) as string } : { items }
  }

  async deleteArtifact(key: ArtifactKey): Promise<void> {
    const owner = ownerOf(key)
    const files = this.#owners.get(owner)
    files?.versions.delete(key.filename)
    files?.names.delete(key.filename)
    if (files?.versions.size === 0) this.#owners.delete(owner)
  }

  async deleteSession({ appName, userId, sessionId }: SessionKey): Promise<void> {
    this.#owners.delete(toKey(appName, userId, sessionId))
  }

  async deleteUser({ appName, userId }: { appName: string; userId: string }): Promise<void> {
    const start = toKey(appName, userId).slice(0, -1) // JSON without its last bracket
    for (const owner of [...this.#owners.keys()])
      if (owner === `${start}]` || owner.startsWith(`${start},`)) this.#owners.delete(owner)
  }

  async listVersions(key: ArtifactKey): Promise<number[]> {
    return this.#versions(key).map(({ version }) => version)
  }

  async listArtifactVersions(key: ArtifactKey): Promise<ArtifactVersion[]> {
    return this.#versions(key).map(describe)
  }

  async listVersionPage(options: ArtifactKey & PageOptions): Promise<Page<ArtifactVersion>> {
    const { items, next } = pageOf(this.#versions(options), options)
    return { items: items.map(describe), ...(next !== undefined && { next }) }
  }

  async getArtifactVersion(
    options: ArtifactKey & { version?: number | undefined },
  ): Promise<ArtifactVersion | undefined> {
    const stored = this.#pick(options)
    return stored && describe(stored)
  }

  /** The names of the session, and those of the user. */
  #namesOf({ appName, userId, sessionId }: SessionKey): SortedNames[] {
    const owners = [toKey(appName, userId, sessionId), toKey(appName, userId)]
    return owners.flatMap((owner) => this.#owners.get(owner)?.names ?? [])
  }

  #versions(key: ArtifactKey): readonly Stored[] {
    return this.#owners.get(ownerOf(key))?.versions.get(key.filename) ?? []
  }

  #pick(options: ArtifactKey & { version?: number | undefined }): Stored | undefined {
    const versions = this.#versions(options)
    const { version = versions.length - 1 } = options
    return Number.isInteger(version) ? versions[version] : undefined
  }
}

interface Files {
  readonly names: SortedNames
  /** The versions of each file. */
  readonly versions: Map<string, Stored[]>
}

interface Stored extends ArtifactVersion {
  readonly part: Part
}

function ownerOf({ appName, userId, sessionId, filename }: ArtifactKey): string {
  checkFilename(filename)
  return isUserFilename(filename) ? toKey(appName, userId) : toKey(appName, userId, sessionId)
}

/** Joins several ids to one key. It is JSON, because an id may contain any separator. */
function toKey(...ids: readonly string[]): string {
  return JSON.stringify(ids)
}

function describe({ part: _, ...version }: Stored): ArtifactVersion {
  return copyJson(version)
}
