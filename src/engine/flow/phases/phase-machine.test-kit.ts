// For tests only: a phase machine whose hooks are recorded.
import type { JsonObject } from '../../../core/base/json.ts'
import { fakeSession, keepReports, writableStateOf } from '../state/state.test-kit.ts'
import type { LivePhase } from './live-phase.ts'
import { PhaseMachine } from './phase-machine.ts'
import type { MoveOptions } from './phase-machine-options.ts'

/** A machine with its reports, the log of its hooks, and the options of its moves. */
interface TestMachine extends ReturnType<typeof keepReports> {
  readonly machine: PhaseMachine
  readonly move: MoveOptions
  readonly log: string[]
}

/** A machine that starts in the first phase. Its clock shows 5000. Hooks of phases without hooks write to the log. */
export function createMachine(phases: readonly LivePhase[], values: JsonObject = {}): TestMachine {
  const log: string[] = []
  const reports = keepReports()
  const recorded = phases.map(
    (phase): LivePhase => ({
      onEnter: ({ from }) => log.push(`enter ${phase.name} from ${from}`),
      onExit: ({ to }) => log.push(`exit ${phase.name} to ${to}`),
      ...phase,
    }),
  )
  const initialPhase = phases[0]?.name ?? ''
  const machine = new PhaseMachine({ phases: recorded, initialPhase, now: () => 5_000, report: reports.report })
  return { ...reports, machine, log, move: { state: writableStateOf(values), session: fakeSession(), turn: 3 } }
}

/** A phase with transitions to other phases. Each applies while the condition returns true. */
export function phase(name: string, ways: { readonly [to: string]: () => boolean } = {}): LivePhase {
  const transitions = Object.entries(ways).map(([to, when]) => ({ to, when }))
  return { name, instruction: `Do ${name}.`, transitions }
}

/** A condition that always holds. */
export const always = (): boolean => true
/** A condition that never holds. */
export const never = (): boolean => false
