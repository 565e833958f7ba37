import type { JSX } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { type AgentInfo, listAgents, listTools } from '../api/dev.ts'
import type { SessionKey } from '../api/types.ts'
import { notifyError } from '../state/notices.ts'
import { visibleLine } from '../ui/visible-text.ts'
import { type AgentVariant, withoutSame } from './variant.ts'

/** Props of the fields. */
export interface WhatIfFieldsProps {
  /** The session to copy. */
  readonly session: SessionKey
  /** What is changed so far. */
  readonly variants: readonly AgentVariant[]
  /** Called with what is changed now. */
  onChange(variants: readonly AgentVariant[]): void
}

/** Chooses the model, the instruction, the temperature and the tools of an agent, for a what-if copy. */
export function WhatIfFields({ session: { app, userId }, variants, onChange }: WhatIfFieldsProps): JSX.Element {
  const [agents, setAgents] = useState<readonly AgentInfo[]>([])
  const [name, setName] = useState<string>()
  const [tools, setTools] = useState<readonly string[]>([])
  const models = useId()
  const agent = agents.find((one) => one.name === name) ?? agents[0]
  useEffect(() => {
    listAgents(app).then((all) => setAgents(all.filter(({ type }) => type === 'LlmAgent')), notifyError)
  }, [app])
  useEffect(() => {
    setTools([])
    if (!agent) return
    listTools({ app, agent: agent.name, userId }).then((all) => setTools(all.map((tool) => tool.name)), notifyError)
  }, [agent])
  if (!agent) return <p class="field-hint">Loading…</p>
  const own: AgentVariant = { agent: agent.name, tools, ...pick(agent) }
  const shown = { ...own, ...variants.find((one) => one.agent === agent.name) }
  const change = (changed: { readonly [Name in keyof AgentVariant]?: AgentVariant[Name] | undefined }): void => {
    const next = withoutSame({ ...shown, ...changed }, own)
    onChange([...variants.filter((one) => one.agent !== agent.name), ...(next ? [next] : [])])
  }
  return (
    <div class="fields">
      {agents.length > 1 && (
        <label class="field">
          Agent
          <select value={agent.name} onChange={({ currentTarget }) => setName(currentTarget.value)}>
            {agents.map((one) => (
              <option key={one.name} value={one.name}>
                {visibleLine(one.name)}
              </option>
            ))}
          </select>
        </label>
      )}
      <label class="field">
        Model
        <input
          list={models}
          value={shown.model ?? ''}
          placeholder="as the agent above"
          onInput={({ currentTarget }) => change({ model: currentTarget.value })}
        />
      </label>
      <datalist id={models}>
        {[...new Set(agents.map(({ model }) => model))].map((model) => model && <option key={model} value={model} />)}
      </datalist>
      <label class="field">
        Temperature
        <input
          inputMode="decimal"
          value={shown.config?.temperature ?? ''}
          placeholder="as in the agent file"
          onChange={({ currentTarget: { value } }) =>
            change({ config: value.trim() === '' ? undefined : { temperature: Number(value) } })
          }
        />
      </label>
      <label class="field">
        Instruction
        <textarea
          rows={5}
          value={shown.instruction ?? ''}
          placeholder="as in the agent file"
          onInput={({ currentTarget }) => change({ instruction: currentTarget.value })}
        />
      </label>
      {tools.length > 0 && (
        <fieldset class="field-group">
          <legend>Tools</legend>
          {tools.map((tool) => (
            <label key={tool} class="check">
              <input
                type="checkbox"
                checked={shown.tools?.includes(tool)}
                onChange={({ currentTarget: { checked } }) =>
                  change({ tools: tools.filter((one) => (one === tool ? checked : shown.tools?.includes(one))) })
                }
              />
              {visibleLine(tool)}
            </label>
          ))}
        </fieldset>
      )}
    </div>
  )
}

function pick({ model, instruction }: AgentInfo): Partial<AgentVariant> {
  return { ...(model !== undefined && { model }), ...(instruction !== undefined && { instruction }) }
}
