import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Problem } from '../requests/Problem.tsx'
import { Button } from '../ui/Button.tsx'
import { CaseCard } from './CaseCard.tsx'
import type { Evaluation } from './use-evaluation.ts'

/** Further cases are shown in steps of this size. */
const STEP = 100

/** How many cases passed, and each case: those that did not pass come first. */
export function EvalResults({ evaluation }: { readonly evaluation: Evaluation }): JSX.Element {
  const [most, setMost] = useState(STEP)
  const { cases, results, passRates, isRunning, error = '' } = evaluation
  const bad = results.filter(({ status }) => status !== 'PASSED')
  const shown = [...bad, ...results.filter(({ status }) => status === 'PASSED')].slice(0, most)
  const rates = passRates.map(({ k, rate }) => ` · pass^${k} ${rate.toFixed(3)}`).join('')
  return (
    <>
      <p role="status">
        {results.length - bad.length} of {results.length} cases passed
        {rates}
        {results.length < cases && (
          <span class="muted">{` · ${cases - results.length} ${isRunning ? 'left' : 'not run'}`}</span>
        )}
      </p>
      <Problem text={error} />
      <ul class="set-aside">
        {shown.map((result) => (
          <li key={result.case}>
            <CaseCard result={result} />
          </li>
        ))}
      </ul>
      {shown.length < results.length && <Button onClick={() => setMost(most + STEP)}>Show more</Button>}
    </>
  )
}
