import { messageOf } from '../error/error.ts'

/** What is wrong with the options of a command. The advice of Node about options as arguments is replaced by ours. */
export function optionProblem(error: unknown): string {
  const [problem] = messageOf(error).split('. To specify')
  return `${problem?.replace(/\.$/, '')}. Add --help to list the options.`
}
