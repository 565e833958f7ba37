import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { visibleLine, visibleText } from '../visible-text.ts'
import { formatOf } from './check-scalar.ts'
import { FieldFrame } from './FieldFrame.tsx'
import type { FieldProps } from './field-props.ts'
import { fromInput, type InputType, toInput } from './input-text.ts'

/** A text. An empty optional text is left out. */
export function TextField(props: FieldProps): JSX.Element {
  const { schema, value, isRequired, onChange } = props
  const text = typeof value === 'string' ? value : ''
  // a text that an input of its format cannot show stays a text
  const [type] = useState((): InputType => {
    const { input = 'text' } = formatOf(schema) ?? {}
    return toInput(input, text) === undefined ? 'text' : input
  })
  const change = (next: string): void => {
    const given = fromInput(type, next)
    onChange(given === '' && !isRequired ? undefined : given)
  }
  const isLong = type === 'text' && (text.length > 60 || text.includes('\n') || Number(schema.maxLength ?? 0) > 200)
  const shown = visibleText(text)
  const isSentAs = type === 'datetime-local' && text !== ''
  const description = isSentAs ? `Sent as ${shown}` : `Reads: ${shown}`
  return (
    <FieldFrame field={shown === text && !isSentAs ? props : { ...props, schema: { ...schema, description } }}>
      {(attributes) =>
        isLong ? (
          <textarea {...attributes} rows={4} value={text} onInput={(event) => change(event.currentTarget.value)} />
        ) : (
          <input
            {...attributes}
            type={type as 'text'} // Preact's types want one of them, for its role
            value={toInput(type, text)}
            onInput={(event) => change(event.currentTarget.value)}
          />
        )
      }
    </FieldFrame>
  )
}

/** A number. What is not a number stays as text, and the check names it. */
export function NumberField(props: FieldProps): JSX.Element {
  const { value, onChange } = props
  const [typed, setTyped] = useState(value === undefined ? '' : String(value))
  const change = (text: string): void => {
    setTyped(text)
    const word = text.trim()
    if (word === '') onChange(undefined)
    else onChange(/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(word) ? Number(word) : text)
  }
  return (
    <FieldFrame field={props}>
      {(attributes) => (
        <input
          {...attributes}
          inputMode="decimal"
          value={typed}
          onInput={(event) => change(event.currentTarget.value)}
        />
      )}
    </FieldFrame>
  )
}

/** True or false. */
export function BooleanField(props: FieldProps): JSX.Element {
  return <ChoiceField {...props} options={[true, false]} />
}

/** One of a few values. */
export function ChoiceField(props: FieldProps & { readonly options: readonly unknown[] }): JSX.Element {
  const { options, value, isRequired, onChange } = props
  const chosen = options.findIndex((option) => JSON.stringify(option) === JSON.stringify(value))
  const hasNone = !isRequired || chosen < 0
  return (
    <FieldFrame field={props}>
      {(attributes) => (
        <select
          {...attributes}
          value={String(chosen)}
          onChange={({ currentTarget }) => onChange(options[Number(currentTarget.value)])}
        >
          {hasNone && <option value="-1">{isRequired ? 'Choose…' : 'not set'}</option>}
          {options.map((option, at) => (
            <option key={at} value={String(at)}>
              {visibleLine(typeof option === 'string' ? option : JSON.stringify(option))}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  )
}

/** A value that no other field fits, as JSON. */
export function RawField(props: FieldProps): JSX.Element {
  const { value, isRequired, onChange } = props
  const [typed, setTyped] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  const [problem, setProblem] = useState('')
  const change = (text: string): void => {
    setTyped(text)
    try {
      onChange(text.trim() === '' ? undefined : JSON.parse(text))
      setProblem('')
    } catch {
      setProblem('This is not JSON yet.')
      onChange(isRequired ? undefined : text)
    }
  }
  return (
    <FieldFrame field={props}>
      {(attributes) => (
        <>
          <textarea
            {...attributes}
            class="code"
            rows={4}
            placeholder="JSON"
            value={typed}
            onInput={(event) => change(event.currentTarget.value)}
          />
          {problem && <p class="field-issue">{problem}</p>}
        </>
      )}
    </FieldFrame>
  )
}
