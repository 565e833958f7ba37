import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { JsonObject } from '../../../../src/core/base/json.ts'
import type { SchemaIssue } from '../../../../src/core/schema/issues.ts'
import { Button } from '../Button.tsx'
import { checkValue } from './check-value.ts'
import { Field } from './Field.tsx'
import { initialValue } from './initial-value.ts'
import { resolveSchema, shapeOf } from './shape.ts'

/** A value that a form holds. */
export interface FormValue {
  /** The value. Undefined: none. */
  readonly value: unknown
  /** What is wrong with it. Empty: it may be sent. */
  readonly issues: readonly SchemaIssue[]
}

/** Props of a form. */
export interface SchemaFormProps {
  /** The JSON Schema of the value. */
  readonly schema: JsonObject
  /** Names the value. */
  readonly label: string
  /** The value that the form holds; `startForm` makes the first. */
  readonly form: FormValue
  /** Shows what is wrong with fields. Set it after the first attempt to send the form. */
  readonly showsIssues: boolean
  /** Called after each change. */
  onChange(form: FormValue): void
}

/** The form at its start: with the given value, or with the defaults of the schema. */
export function startForm(schema: JsonObject, value?: unknown): FormValue {
  const first = value === undefined ? initialValue(schema, schema) : value
  return { value: first, issues: checkValue(schema, first) }
}

/** A form made from a JSON Schema. The value can also be typed as JSON. */
export function SchemaForm({ schema, label, form, showsIssues, onChange }: SchemaFormProps): JSX.Element {
  const [isRaw, setRaw] = useState(false)
  const [text, setText] = useState('')
  const change = (value: unknown): void => onChange({ value, issues: checkValue(schema, value) })
  const changeText = (typed: string): void => {
    setText(typed)
    try {
      change(JSON.parse(typed))
    } catch {
      onChange({ value: form.value, issues: [{ path: '', expected: 'JSON' }] })
    }
  }
  const toggle = (): void => {
    if (!isRaw) setText(JSON.stringify(form.value ?? {}, null, 2))
    else onChange({ value: form.value, issues: checkValue(schema, form.value) })
    setRaw(!isRaw)
  }
  const whole = form.issues.find(({ path }) => path === '')
  const shape = shapeOf(resolveSchema(schema, schema), 0)
  const isEmpty = shape.type === 'object' && shape.properties.length === 0
  return (
    <fieldset class="schema-form" aria-label={label}>
      {isRaw ? (
        <textarea
          class="code"
          rows={8}
          aria-label={`${label} as JSON`}
          value={text}
          onInput={(event) => changeText(event.currentTarget.value)}
        />
      ) : (
        <Field
          {...{ schema, label }}
          root={schema}
          path=""
          level={0}
          value={form.value}
          isRequired
          issues={showsIssues ? form.issues : []}
          onChange={change}
        />
      )}
      <div class="form-foot">
        {whole && (isRaw || showsIssues) ? <p class="field-issue">Expected {whole.expected}</p> : <span />}
        {!isEmpty && <Button onClick={toggle}>{isRaw ? 'Show as form' : 'Edit as JSON'}</Button>}
      </div>
    </fieldset>
  )
}
