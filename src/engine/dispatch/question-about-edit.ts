import { copyJson, type JsonObject } from '../../core/base/json.ts'
import type { Ports } from '../../core/base/ports.ts'
import { withTimeout } from '../../core/base/with-timeout.ts'
import { messageOf } from '../../core/error/error.ts'
import { describeIssues } from '../../core/schema/issues.ts'
import { plainArgs } from './confirm.ts'
import type { Logger } from './host.ts'
import { callHint, defaultHint, GATE_MS } from './request-confirmation.ts'
import type { ToolEntry } from './resolve.ts'

/** What an approver is asked about edited arguments. */
export interface EditedQuestion {
  /** The question. */
  readonly hint: string
  /** The arguments the body would get; undefined if the tool does not accept them, or could not be asked. */
  readonly args?: JsonObject
  /** Why the tool does not accept the arguments. */
  readonly issues?: string
}

/**
 * The question about arguments that an approver sends instead of those of a call. Without the tool, or if its functions fail or
 * take too long, it is the default question: it never describes other arguments.
 */
export async function questionAboutEdit(
  { name, args }: { readonly name: string; readonly args: JsonObject },
  find: () => Promise<ToolEntry | undefined>,
  { ports, logger }: { readonly ports: Pick<Ports, 'setTimer'>; readonly logger: Logger },
): Promise<EditedQuestion> {
  const ask = async (): Promise<EditedQuestion | undefined> => {
    const entry = await find()
    if (!entry) return undefined
    const parsed = await entry.parse(copyJson(args))
    if (parsed.issues) return { hint: defaultHint(name), issues: describeIssues(parsed.issues) }
    const plain = plainArgs(parsed.value) // before the hint, which may change its arguments
    return { hint: await callHint(entry.tool, async () => parsed.value, logger), args: plain }
  }
  try {
    const question = await withTimeout(ask(), GATE_MS, ports, () => {
      logger.warn(
        `The question about edited arguments of tool "${name}" took more than ${GATE_MS} ms. The default hint is used.`,
      )
      return undefined
    })
    return question ?? { hint: defaultHint(name) }
  } catch (error) {
    logger.warn(
      `The question about edited arguments of tool "${name}" failed: ${messageOf(error)}. The default hint is used.`,
      error,
    )
    return { hint: defaultHint(name) }
  }
}
