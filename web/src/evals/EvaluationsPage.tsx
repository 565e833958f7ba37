import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { type EvalMode, listEvalSets } from '../api/evals.ts'
import { Choice } from '../stats/StatsPage.tsx'
import { Button } from '../ui/Button.tsx'
import { EvalResults } from './EvalResults.tsx'
import { useEvaluation } from './use-evaluation.ts'

const MODES: Readonly<Record<EvalMode, string>> = {
  replay: 'Replay what was recorded',
  'recorded-tools': 'Real model, recorded results',
  live: 'Real model and tools, with their effects',
}
const NONE = 'No *.evalset.json is beside the agent. Save a session as one.'
const MAX_REPEAT = 100

/** Runs the sets of cases beside the agent, and shows what failed. */
export function EvaluationsPage({ app }: { readonly app: string }): JSX.Element {
  const [sets, setSets] = useState<readonly string[]>()
  const [problem, setProblem] = useState('')
  useEffect(() => void listEvalSets(app).then(setSets, (error) => setProblem(describeError(error))), [])
  return (
    <div class="view">
      <header class="view-head">
        <h1>Evaluations</h1>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the page is scrolled with the keyboard */}
      <section class="view-body" tabIndex={0} aria-label="Cases">
        <div class="column stats">
          {sets?.length ? <Sets app={app} sets={sets} /> : <p class="empty">{problem || (sets ? NONE : 'Loading…')}</p>}
        </div>
      </section>
    </div>
  )
}

function Sets({ app, sets }: { readonly app: string; readonly sets: readonly string[] }): JSX.Element {
  const [set, setSet] = useState(sets[0] ?? '')
  const [mode, setMode] = useState<EvalMode>('replay')
  const [repeat, setRepeat] = useState(1)
  const { evaluation, start, stop } = useEvaluation()
  const submit = (event: Event): void => {
    event.preventDefault()
    start({ app, set, mode, repeat })
  }
  return (
    <>
      <form class="stats-controls" onSubmit={submit}>
        <Choice label="Eval set" value={set} names={Object.fromEntries(sets.map((id) => [id, id]))} onChoose={setSet} />
        <Choice<EvalMode> label="How" value={mode} names={MODES} onChoose={setMode} />
        <label>
          <span>Runs of each case</span>
          <input
            type="number"
            required
            min={1}
            max={MAX_REPEAT}
            value={repeat}
            onInput={(event) => setRepeat(event.currentTarget.valueAsNumber)}
          />
        </label>
        {evaluation?.isRunning ? (
          <Button icon="stop" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button kind="primary" type="submit">
            Run
          </Button>
        )}
      </form>
      {evaluation && <EvalResults evaluation={evaluation} />}
    </>
  )
}
