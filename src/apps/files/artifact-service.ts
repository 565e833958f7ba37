import { join } from 'node:path'
import { isUserFilename } from '../../core/base/key-scope.ts'
import { systemPorts } from '../../core/base/ports.ts'
import type { Part } from '../../core/content/content.ts'
import { messageOf } from '../../core/error/error.ts'
import type { Logger } from '../../engine/dispatch/host.ts'
import { checkFilename, checkNewArtifactKey, checkPart } from '../../services/artifact/check-artifact.ts'
import { mimeTypeOf } from '../../services/artifact/mime-type.ts'
import type { ArtifactKey, ArtifactService, ArtifactVersion } from '../../services/artifact/service.ts'
import { checkKey, checkUser } from '../../services/session/check-key.ts'
import { pageOf, readPagePosition } from '../../services/session/page.ts'
import type { Page, PageOptions, SessionKey } from '../../services/session/service.ts'
import { addNumbered, findFolder, namesIn, numbersIn, removeFolder, removeLeftovers } from './artifact-folders.ts'
import { storageError } from './file-error.ts'
import { fromSegment, toSegment } from './segment.ts'
import { encodeVersion, readDescription, readPart } from './version-files.ts'

type UserKey = Pick<SessionKey, 'appName' | 'userId'>

/** How often a process looks for what others have left. */
const SWEEP_EVERY_MS = 3_600_000

/**
 * Stores artifacts in a folder: `<app>/<user>/sessions/<session>/<filename>/<version>/`, and those of the user in
 * `<app>/<user>/user/<filename>/<version>/`. Several processes can use it at once.
 */
export class FileArtifactService implements ArtifactService {
  readonly #root: string
  readonly #now: () => number
  readonly #logger: Logger
  #nextSweep = Number.NEGATIVE_INFINITY

  constructor(root: string, options: { readonly now: () => number; readonly logger: Logger }) {
    this.#root = root
    this.#now = options.now
    this.#logger = options.logger
  }

  /** Stores a new version of an artifact and returns its number. */
  async saveArtifact(options: Parameters<ArtifactService['saveArtifact']>[0]): Promise<number> {
    const { filename, artifact, customMetadata } = options
    const folder = this.#folderOf(options)
    checkPart(artifact)
    checkNewArtifactKey(options)
    const mimeType = mimeTypeOf(artifact)
    const described = {
      createTime: this.#now() / 1000,
      ...(mimeType !== undefined && { mimeType }),
      ...(customMetadata && { customMetadata }),
    }
    const files = encodeVersion({ filename, described, part: artifact })
    return await this.#run(async () => {
      await this.#sweep()
      return await addNumbered(this.#root, folder, files)
    })
  }

  /** Loads a version of an artifact; default: the latest. */
  async loadArtifact(options: ArtifactKey & { version?: number | undefined }): Promise<Part | undefined> {
    return await this.#run(async () => {
      const found = await this.#findVersion(options)
      return found && (await readPart(found.folder))
    })
  }

  /** Lists the filenames of a session and of its user. */
  async listArtifactKeys(options: SessionKey): Promise<string[]> {
    checkKey(options)
    const session = join(this.#sessions(options), toSegment(options.sessionId))
    const names = await this.#run(async () => [
      ...(await this.#namesIn(session)),
      ...(await this.#namesIn(this.#ofUser(options))),
    ])
    return names.sort()
  }

  /** Lists a part of the filenames. */
  async listArtifactPage(options: SessionKey & PageOptions): Promise<Page<string>> {
    const { after, limit } = options
    readPagePosition({ limit })
    const all = await this.listArtifactKeys(options)
    const rest = after === undefined ? all : all.filter((name) => name > after)
    const items = rest.slice(0, limit)
    return items.length < rest.length ? { items, next: items.at(-1) as string } : { items }
  }

  /** Deletes all versions of an artifact. */
  async deleteArtifact(key: ArtifactKey): Promise<void> {
    const folder = this.#folderOf(key)
    await this.#run(() => removeFolder(this.#root, folder))
  }

  /** Deletes the artifacts of a session. Those of the user stay. */
  async deleteSession(key: SessionKey): Promise<void> {
    checkKey(key)
    await this.#erase(join(this.#sessions(key), toSegment(key.sessionId)))
  }

  /** Deletes all artifacts of a user, in all sessions. */
  async deleteUser(user: UserKey): Promise<void> {
    checkUser(user)
    await this.#erase(this.#user(user))
  }

  /** Lists the version numbers of an artifact, oldest first. */
  async listVersions(key: ArtifactKey): Promise<number[]> {
    const folder = this.#folderOf(key)
    return await this.#run(() => this.#numbersIn(folder))
  }

  /** Lists a part of the versions with their metadata. */
  async listVersionPage(options: ArtifactKey & PageOptions): Promise<Page<ArtifactVersion>> {
    const { items, next } = pageOf(await this.listVersions(options), options)
    const versions = await this.#describeAll(this.#folderOf(options), items)
    return next === undefined ? { items: versions } : { items: versions, next }
  }

  /** Lists the versions of an artifact with their metadata. A damaged one is reported and left out. */
  async listArtifactVersions(key: ArtifactKey): Promise<ArtifactVersion[]> {
    return await this.#describeAll(this.#folderOf(key), await this.listVersions(key))
  }

  /** Returns the metadata of a version; default: the latest. */
  async getArtifactVersion(
    options: ArtifactKey & { version?: number | undefined },
  ): Promise<ArtifactVersion | undefined> {
    return await this.#run(async () => {
      const found = await this.#findVersion(options)
      return found && (await describe(found.folder, found.version))
    })
  }

  /** Removes a folder, and what an earlier attempt has left of it. */
  async #erase(folder: string): Promise<void> {
    await this.#run(async () => {
      await removeFolder(this.#root, folder)
      await removeLeftovers(this.#root)
    })
  }

  async #sweep(): Promise<void> {
    const now = systemPorts.monotonicNow()
    if (now < this.#nextSweep) return
    this.#nextSweep = now + SWEEP_EVERY_MS
    await removeLeftovers(this.#root).catch((error) =>
      this.#logger.warn(`Unfinished files were not removed: ${messageOf(storageError(error, this.#root))}`, error),
    )
  }

  /** The folder of a version, or of the latest one. */
  async #findVersion(
    options: ArtifactKey & { version?: number | undefined },
  ): Promise<{ readonly folder: string; readonly version: number } | undefined> {
    const folder = this.#folderOf(options)
    const { version = (await this.#numbersIn(folder)).at(-1) } = options
    if (version === undefined || !Number.isSafeInteger(version) || version < 0) return undefined
    const found = await findFolder(this.#root, join(folder, String(version)))
    return found === undefined ? undefined : { folder: found, version }
  }

  async #numbersIn(folder: string): Promise<number[]> {
    const found = await findFolder(this.#root, folder)
    return found === undefined ? [] : await numbersIn(found)
  }

  /** The names of the artifacts in a folder. A long one is not the name of its folder: a version has it. */
  async #namesIn(folder: string): Promise<string[]> {
    const found = await findFolder(this.#root, folder)
    const names: string[] = []
    for (const segment of found === undefined ? [] : await namesIn(found)) {
      const path = join(folder, segment)
      const numbers = await numbersIn(path)
      if (numbers.length === 0) continue
      const name = fromSegment(segment) ?? (await this.#writtenName(path, numbers))
      if (name !== undefined) names.push(name)
    }
    return names
  }

  async #writtenName(folder: string, numbers: readonly number[]): Promise<string | undefined> {
    for (const number of numbers.toReversed()) {
      const described = await this.#reportDamage(() => readDescription(join(folder, String(number))))
      if (described) return described.filename
    }
    return undefined
  }

  async #describeAll(folder: string, versions: readonly number[]): Promise<ArtifactVersion[]> {
    const all: ArtifactVersion[] = []
    for (const version of versions) {
      const one = await this.#run(() => this.#reportDamage(() => describe(join(folder, String(version)), version)))
      if (one) all.push(one)
    }
    return all
  }

  /** Reports files that are damaged, and goes on without them. */
  async #reportDamage<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read()
    } catch (error) {
      this.#logger.warn(`${messageOf(storageError(error, this.#root))} It was left out.`, error)
      return undefined
    }
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw storageError(error, this.#root)
    }
  }

  #folderOf(key: ArtifactKey): string {
    checkKey(key)
    checkFilename(key.filename)
    const file = toSegment(key.filename)
    if (isUserFilename(key.filename)) return join(this.#ofUser(key), file)
    return join(this.#sessions(key), toSegment(key.sessionId), file)
  }

  #user({ appName, userId }: UserKey): string {
    return join(this.#root, toSegment(appName), toSegment(userId))
  }

  #sessions(user: UserKey): string {
    return join(this.#user(user), 'sessions')
  }

  #ofUser(user: UserKey): string {
    return join(this.#user(user), 'user')
  }
}

async function describe(folder: string, version: number): Promise<ArtifactVersion | undefined> {
  const found = await readDescription(folder)
  return found && { version, ...found.described }
}
