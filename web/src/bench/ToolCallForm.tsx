import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { isRecord, type JsonObject } from '../../../src/core/base/json.ts'
import type { ToolInfo } from '../api/types.ts'
import { useSignal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'
import { type FormValue, SchemaForm, startForm } from '../ui/schema-form/SchemaForm.tsx'
import { Tree } from '../ui/Tree.tsx'
import { VisibleText } from '../ui/VisibleText.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { type BenchRun, benchRuns, startRun } from './bench-run.ts'
import { CallHistory } from './CallHistory.tsx'
import { CrashTest } from './CrashTest.tsx'
import { RunResult } from './RunResult.tsx'

/** Props of the form of a tool. */
export interface ToolCallFormProps {
  /** The app. */
  readonly app: string
  /** The user the tool acts for. */
  readonly userId: string
  /** The agent that has the tool. */
  readonly agent: string
  /** The tool. */
  readonly tool: ToolInfo
  /** The arguments that the form starts with. Default: those of the schema. */
  readonly args?: JsonObject
  /** The tools that can show what the tool has done. */
  readonly readers: readonly string[]
}

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} }

/** A tool: what the model sees of it, a form for its arguments, and the calls made so far. */
export function ToolCallForm({ app, userId, agent, tool, args, readers }: ToolCallFormProps): JSX.Element {
  const schema = tool.declaration?.parametersJsonSchema ?? NO_PARAMETERS
  const [form, setForm] = useState(() => startArguments(schema, args))
  const [formKey, setFormKey] = useState(0)
  const [showsIssues, setShowsIssues] = useState(false)
  const [shown, setShown] = useState<BenchRun>()
  const runs = useSignal(benchRuns).filter(
    ({ call }) => call.app === app && call.userId === userId && call.agent === agent && call.tool === tool.name,
  )
  const run = shown ?? runs[0]
  const call = (event: Event): void => {
    event.preventDefault()
    setShowsIssues(true)
    if (form.issues.length === 0 && isRecord(form.value ?? {})) callAsIs()
  }
  const given = { app, userId, agent, tool: tool.name, args: isRecord(form.value) ? form.value : {} }
  const callAsIs = (): void => setShown(startRun(given))
  const reuse = (args: JsonObject): void => {
    setForm(startForm(schema, args))
    setFormKey(formKey + 1)
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the form is scrolled with the keyboard
    <section class="tool-call" aria-label={visibleLine(tool.name)} tabIndex={0}>
      <div class="tool-side">
        <header class="tool-head">
          <h2>{visibleLine(tool.name)}</h2>
          <Facts tool={tool} />
          <p class="muted">
            <VisibleText text={tool.description} />
          </p>
        </header>
        <form class="bench-form" onSubmit={call} noValidate>
          <SchemaForm key={formKey} {...{ schema, form, showsIssues }} label="Arguments" onChange={setForm} />
          <div class="bench-actions">
            <Button kind="primary" type="submit">
              Run
            </Button>
            {showsIssues && form.issues.length > 0 && (
              <Button onClick={callAsIs}>Run although the arguments are invalid</Button>
            )}
          </div>
        </form>
        <details>
          <summary>Declaration that the model sees</summary>
          <Tree label="Declaration" value={tool.declaration ?? null} openLevels={4} />
        </details>
        <CrashTest call={given} readers={readers} />
      </div>
      <div class="tool-side">
        {run && <RunResult key={run.id} run={run} />}
        {runs.length > 0 && <CallHistory runs={runs} shown={run} onShow={setShown} onReuse={reuse} />}
      </div>
    </section>
  )
}

/** Arguments are an object, also those of a tool without parameters. */
function startArguments(schema: JsonObject, args: JsonObject | undefined): FormValue {
  const form = startForm(schema, args)
  return form.value === undefined ? startForm(schema, {}) : form
}

const EFFECTS: ReadonlyMap<string, string> = new Map([
  ['none', 'no side effects'],
  ['idempotent', 'may be repeated'],
  ['reconcilable', 'checked before a repeat'],
  ['atMostOnce', 'runs at most once'],
])

function Facts({ tool }: { readonly tool: ToolInfo }): JSX.Element {
  const facts = [
    EFFECTS.get(tool.effect) ?? tool.effect,
    ...(tool.needsConfirmation === 'always' ? ['needs an approval'] : []),
    ...(tool.needsConfirmation === 'sometimes' ? ['may need an approval'] : []),
    ...(tool.hasAuth ? ['needs a credential'] : []),
    ...(tool.isLongRunning ? ['long-running'] : []),
  ]
  return (
    <ul class="tool-facts" aria-label="Properties">
      {facts.map((fact) => (
        <li key={fact}>{visibleLine(fact)}</li>
      ))}
    </ul>
  )
}
