// The sets of cases of an app and their results, as files in the folder of the agent: where ADK has them.
import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ToolwrightError } from '../../../core/error/error.ts'

const SET = '.evalset.json'
const RESULT = '.evalset_result.json'
const CONFIG = 'test_config.json'
const HISTORY = join('.adk', 'eval_history')
/** A larger file is neither read nor written. */
export const MAX_SET_BYTES = 50_000_000
/** Most files that a list names. */
const MAX_LISTED = 1_000

/** One name of a file: no separator, and nothing that leads to another folder. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/

/** The files of one app. */
export class EvalFolder {
  readonly #folder: string
  /** Changes of sets, one after another: two requests at the same time must not lose a case. */
  #changes: Promise<unknown> = Promise.resolve()

  /** `folder`: where the agent file is. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** The ids of the sets. */
  async sets(): Promise<string[]> {
    return (await namesIn(this.#folder, SET)).slice(0, MAX_LISTED)
  }

  /** The file of a set. Throws INVALID_REQUEST for an id that cannot be one. */
  file(id: string): string {
    return `${checkName('eval set', id)}${SET}`
  }

  /** The text of a set. Throws NOT_FOUND. */
  async read(id: string): Promise<string> {
    const text = await readSmall(join(this.#folder, this.file(id)))
    if (text !== undefined) return text
    throw new ToolwrightError('NOT_FOUND', `There is no eval set "${id}".`)
  }

  /** Creates a set. Throws ALREADY_EXISTS. */
  create(id: string, text: string): Promise<void> {
    return this.#inOrder(async () => {
      const file = join(this.#folder, this.file(id))
      if (await lstat(file).catch(() => undefined))
        throw new ToolwrightError('ALREADY_EXISTS', `There is an eval set "${id}" already.`)
      await replaceFile(file, text)
    })
  }

  /** Changes the text of a set. Throws NOT_FOUND, and what `change` throws: then the file stays as it is. */
  change(id: string, change: (text: string) => string): Promise<void> {
    return this.#inOrder(async () => {
      await replaceFile(join(this.#folder, this.file(id)), change(await this.read(id)))
    })
  }

  /** Changes the text of a set, or makes one: then `change` gets undefined. Throws ALREADY_EXISTS if a link or a folder has its name. */
  save(id: string, change: (text: string | undefined) => string): Promise<void> {
    return this.#inOrder(async () => {
      const file = join(this.#folder, this.file(id))
      const text = await readSmall(file)
      if (text === undefined && (await lstat(file).catch(() => undefined)))
        throw new ToolwrightError('ALREADY_EXISTS', `"${this.file(id)}" is no plain file. Choose another eval set.`)
      await replaceFile(file, change(text))
    })
  }

  /** The text of the `test_config.json` of ADK, with criteria for all sets. Undefined if there is none. */
  testConfig(): Promise<string | undefined> {
    return readSmall(join(this.#folder, CONFIG))
  }

  /** The ids of the results: the latest ones, if there are many. */
  async results(): Promise<string[]> {
    const names = await namesIn(join(this.#folder, HISTORY), RESULT)
    return names.sort((one, other) => timeOf(one) - timeOf(other)).slice(-MAX_LISTED)
  }

  /** The text of a result. Throws NOT_FOUND. */
  async readResult(id: string): Promise<string> {
    const text = await readSmall(join(this.#folder, HISTORY, `${checkName('eval result', id)}${RESULT}`))
    if (text !== undefined) return text
    throw new ToolwrightError('NOT_FOUND', `There is no eval result "${id}".`)
  }

  /** Stores a result. */
  async addResult(id: string, text: string): Promise<void> {
    await mkdir(join(this.#folder, HISTORY), { recursive: true })
    await replaceFile(join(this.#folder, HISTORY, `${checkName('eval result', id)}${RESULT}`), text)
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#changes.then(work)
    this.#changes = done.catch(() => {}) // the caller gets the error
    return done
  }
}

function checkName(what: string, name: string): string {
  if (NAME.test(name) && !name.includes('..')) return name
  throw new ToolwrightError(
    'INVALID_REQUEST',
    `The id of an ${what} has 1 to 100 letters, digits, "_", "-" and single ".", and starts with a letter, digit or "_".`,
  )
}

/** The names of the plain files of a folder with an ending. A folder that does not exist has none. */
async function namesIn(folder: string, ending: string): Promise<string[]> {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return found
    .filter((one) => one.isFile() && one.name.endsWith(ending))
    .map(({ name }) => name.slice(0, -ending.length))
    .filter((name) => NAME.test(name) && !name.includes('..'))
    .sort()
}

/** The seconds since the epoch in the id of a result: ADK writes them at its end, and we milliseconds and what makes the id unique. */
function timeOf(result: string): number {
  const time = Number(/_(\d{10,13}(?:\.\d+)?)(?:_[^_]*)?$/.exec(result)?.[1] ?? 0)
  return time > 1e12 ? time / 1000 : time
}

/** The text of a plain file: a link could lead anywhere. Undefined if there is none. */
async function readSmall(file: string): Promise<string | undefined> {
  const found = await lstat(file).catch(() => undefined)
  if (!found?.isFile()) return undefined
  if (found.size > MAX_SET_BYTES) throw tooLarge()
  return await readFile(file, 'utf8')
}

function tooLarge(): ToolwrightError {
  return new ToolwrightError('TOO_LARGE', `The file has more than ${MAX_SET_BYTES} bytes.`)
}

/** A reader sees the old text or the new one. A link is replaced, not followed. */
async function replaceFile(file: string, text: string): Promise<void> {
  if (Buffer.byteLength(text) > MAX_SET_BYTES) throw tooLarge()
  const temporary = join(dirname(file), `.${randomUUID()}.tmp`)
  try {
    await writeFile(temporary, text, { flag: 'wx' })
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw new ToolwrightError('STORAGE', 'The eval set could not be written.', { cause: error })
  }
}
