import type { EvalSet } from '../../../adapters/eval/cases/eval-set.ts'
import { readEvalSet } from '../../../adapters/eval/cases/read-eval-set.ts'
import { readTestConfig } from '../../../adapters/eval/criteria/read-test-config.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { EvalFolder } from './eval-folder.ts'

/** Reads a set that can run, with the criteria of the `test_config.json` beside it. Throws INVALID_REQUEST for a file with a mistake. */
export async function readSet(folder: EvalFolder, id: string): Promise<EvalSet> {
  const text = await folder.read(id)
  const config = await folder.testConfig()
  return asRequest(() => {
    const set = { ...readEvalSet(text, folder.file(id)), id }
    return config === undefined ? set : { ...set, criteria: readTestConfig(config, 'test_config.json') }
  })
}

/** A mistake of a file or a body is one that the client can correct. */
export function asRequest<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new ToolwrightError('INVALID_REQUEST', messageOf(error), { cause: error })
  }
}
