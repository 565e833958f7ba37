// Keeps one sample object of each class of the hot path alive. When a full garbage collection finds no object of a class,
// V8 drops the class's hidden class (its shape) and the machine code compiled for it. The next run would start slow again.
// With the samples, runs after a collection take a third of the time.

import { StopSignal } from '../../../core/base/stop-signal.ts'
import { Fold } from '../../../core/event/fold.ts'
import { InMemoryLease, InMemoryLog, InMemorySession } from '../../../services/session/in-memory-session.ts'
import { ScopedState } from '../../../services/session/in-memory-state.ts'
import { CallIds } from '../../agent/loop/accept-calls.ts'
import { GenerateOptions, ModelCall } from '../../agent/loop/ask-model.ts'
import { CallBatch } from '../../agent/loop/call-batch.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import { Request } from '../../agent/request/build-request.ts'
import { History } from '../../agent/request/history.ts'
import { CallContext } from '../../context/call-context.ts'
import { RunCallbackContext } from '../../context/callback-context.ts'
import { WritableState } from '../../context/state.ts'
import { BatchClock } from '../../dispatch/batch-clock.ts'
import { Wait } from '../../dispatch/wait-with-deadline.ts'
import { HeldSession } from '../session/held-session.ts'
import { ActiveRun } from './active-run.ts'
import { EventQueue } from './event-queue.ts'
import { Recorder } from './recorder.ts'
import { RunData, RunState } from './run-data.ts'

const samples: unknown[] = []

/** Creates the samples, once. The first runner calls it, so that importing the package stays fast. */
export function keepShapesAlive(): void {
  if (samples.length === 0) samples.push(...createSamples())
}

/** Empty objects. Each has only what its constructor reads, with fields of the same kinds as real objects. */
function createSamples(): unknown[] {
  return [
    new CallIds({ progress: { replies: [] as unknown[] } } as never),
    new ModelCall({} as never),
    new GenerateOptions({ runConfig: {} } as never, ''),
    new CallBatch({ plan: { agent: {} }, frame: {} } as never, {} as never, [], async () => 'done'),
    new SessionView({ shownTurns: { most: 0 } } as never),
    new Request('', [], {}, new Map()),
    new History('', { path: '' }),
    new StopSignal(),
    new BatchClock({ now: () => 0 } as never),
    new Wait(
      {} as never,
      () => {},
      () => {},
    ),
    new Fold(''),
    new ActiveRun({} as never),
    new EventQueue(),
    new Recorder({ services: { eventPlugins: [] } } as never, {} as never, ''),
    new RunState({} as never),
    new RunData({
      services: { eventPlugins: [] },
      held: { key: {}, state: {}, view: { seq: 0, foldOf: () => new Fold('') } },
      runConfig: {},
    } as never),
    new HeldSession(
      { key: {} } as never,
      {
        log: { entries: [], state: {} as never },
        view: { seq: 0 } as never,
        earlier: undefined,
        checkpoints: undefined,
      },
      { services: {} as never, claimedAt: 0.5, tree: {} as never, isFresh: false },
    ),
    new InMemorySession({ appName: '', userId: '', sessionId: '' }, {} as never, Number.NEGATIVE_INFINITY, 0),
    new InMemoryLog(),
    new InMemoryLease({ key: {}, epoch: 0 } as never, {}, { seq: 0, leaseMs: 0 }),
    new ScopedState(new Map(), new Map()),
    new CallContext({ tool: {} } as never),
    new RunCallbackContext({} as never, '', undefined),
    new WritableState({} as never),
  ]
}
