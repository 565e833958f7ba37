import {
  anything,
  callback,
  checkOptions,
  list,
  type OptionRules,
  objectWith,
  text,
  wholeNumber,
} from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { Logger } from '../../engine/dispatch/host.ts'
import { Runner } from '../../engine/runner/runner.ts'
import type { RecoverOptions } from '../../engine/runner/runner-options.ts'
import { isLoopbackHost } from '../server/guard/allowed-hosts.ts'
import type { IngressOptions } from './ingress.ts'
import { urlOf } from './ingress.ts'
import { checkSecret } from './sealed-call.ts'

/** Options of `startRestateWorker()`. */
export interface RestateWorkerOptions extends IngressOptions, Pick<RecoverOptions, 'runContext'> {
  /** The apps that the worker runs. */
  readonly runners: readonly Runner[]
  /** The address of the admin API of Restate, to register the worker: `http://127.0.0.1:9070`. Default: it is registered by other means. */
  readonly admin?: string | URL | undefined
  /** Where Restate reaches the workers of this version: often the address of a load balancer. Default: `http://127.0.0.1:<port>`. */
  readonly url?: string | URL | undefined
  /** The port. Default: 9080. `0` takes a free one. */
  readonly port?: number | undefined
  /** The address to listen on. Default: `127.0.0.1`. Another one needs `identityKeys`. */
  readonly host?: string | undefined
  /** The public keys of Restate: requests of others are refused. */
  readonly identityKeys?: readonly string[] | undefined
  /** Accepts requests of every client that reaches the port, without `identityKeys`. Calls still need the signature of the secret. */
  readonly allowUnauthenticatedRemote?: boolean | undefined
  /** The most sessions at the same time on one connection of Restate. It opens another one for more. Default: 10. */
  readonly concurrency?: number | undefined
  /** How many processes in a row may die with a session before it is set aside. Default: 5. */
  readonly maxCrashes?: number | undefined
  /** What `toolwright fleet` calls this worker, such as the name of its machine or pod; at most 200 characters. Default: nothing. */
  readonly label?: string | undefined
  /** Receives errors. Default: `console`. */
  readonly logger?: Logger | undefined
}

const RULES: OptionRules<RestateWorkerOptions> = {
  runners: list,
  ingress: anything, // urlOf() checks it
  admin: anything,
  url: anything,
  secret: anything, // checkSecret() checks it
  fetch: callback,
  now: callback,
  port: wholeNumber(0),
  host: text,
  identityKeys: list,
  allowUnauthenticatedRemote: { expects: 'true or false', accepts: (value) => typeof value === 'boolean' },
  concurrency: wholeNumber(1),
  maxCrashes: wholeNumber(1),
  label: text,
  runContext: callback,
  logger: objectWith('warn', 'error'),
}

/** Checks the options of a worker. */
export function checkWorkerOptions(options: RestateWorkerOptions): void {
  checkOptions('startRestateWorker()', options, RULES)
  const { runners, host = '127.0.0.1', identityKeys = [], allowUnauthenticatedRemote = false } = options
  checkSecret(options.secret)
  for (const option of ['ingress', 'admin', 'url'] as const) {
    const given = options[option]
    if (given !== undefined || option === 'ingress') urlOf(option, given ?? '')
  }
  if (runners.some((runner: unknown) => !(runner instanceof Runner)))
    throw invalid('`runners` must be a list of runners: new Runner({ appName, agent }).')
  if (identityKeys.some((key: unknown) => typeof key !== 'string' || !key.startsWith('publickeyv1_')))
    throw invalid('`identityKeys` must have the public keys that Restate prints. They start with "publickeyv1_".')
  const names = runners.map(({ appName }) => appName)
  if (names.length === 0) throw invalid('`runners` is empty. Pass the runner of each app.')
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    throw invalid(`\`runners\` has two runners of the app "${twice}". Give them different names.`)
  if (['0.0.0.0', '::'].includes(host) && options.url === undefined)
    throw invalid(
      `\`host\` "${host}" is no address that Restate can call. Set \`url\` to the one that reaches the workers.`,
    )
  if (!isLoopbackHost(host) && identityKeys.length === 0 && !allowUnauthenticatedRemote)
    throw invalid(
      `\`host\` "${host}" can be reached from other machines. Set \`identityKeys\` to the public key that Restate prints, or allowUnauthenticatedRemote.`,
    )
}

function invalid(problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `startRestateWorker(): ${problem}`)
}
