import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { type BenchCall, type CrashReport, testCrashes } from '../api/dev.ts'
import { Problem } from '../requests/Problem.tsx'
import { Button } from '../ui/Button.tsx'
import { visibleLine, visibleText } from '../ui/visible-text.ts'

/** Props of the crash test. */
export interface CrashTestProps {
  /** The call, with the arguments of the form. */
  readonly call: BenchCall
  /** The tools that can show what the tool has done. */
  readonly readers: readonly string[]
}

/** Plays crashes around a tool, and shows whether what it declares is true. */
export function CrashTest({ call, readers }: CrashTestProps): JSX.Element {
  const [reader = readers[0], setReader] = useState<string>()
  const [result, setResult] = useState<CrashReport | 'running' | Error>()
  const start = (): void => {
    setResult('running')
    testCrashes(call, reader ?? '').then(setResult, (error: unknown) => setResult(new Error(describeError(error))))
  }
  return (
    <details>
      <summary>Test with crashes</summary>
      <div class="bench-result">
        <p class="warning">
          This really runs {visibleLine(call.tool)} many times with these arguments, gives every approval, and kills it
          half-way. Do not use it where the calls cost something.
        </p>
        {reader === undefined ? (
          <p class="field-hint">It needs a tool of the same agent with effect “none” that shows what was done.</p>
        ) : (
          <div class="bench-actions">
            <label>
              What was done, as shown by{' '}
              <select value={reader} onChange={({ currentTarget }) => setReader(currentTarget.value)}>
                {readers.map((name) => (
                  <option key={name} value={name}>
                    {visibleLine(name)}
                  </option>
                ))}
              </select>
            </label>
            <Button kind="danger" disabled={result === 'running'} onClick={start}>
              {result === 'running' ? 'Running…' : 'Run many times'}
            </Button>
          </div>
        )}
        {result instanceof Error && <Problem text={result.message} />}
        {typeof result === 'object' && 'ok' in result && (
          <pre class={result.ok ? 'answer good' : 'problem'} role="status">
            {visibleText(result.text)}
          </pre>
        )}
      </div>
    </details>
  )
}
