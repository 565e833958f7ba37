import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { visibleLine } from '../visible-text.ts'
import { constraintsOf, type FieldProps, issueOf } from './field-props.ts'

/** The attributes that connect a control with its label, its description and its issue. */
export interface ControlAttributes {
  /** The id that the label names. */
  readonly id: string
  /** The description and the issue. */
  readonly 'aria-describedby': string | undefined
  /** Is the value wrong? */
  readonly 'aria-invalid': boolean
  /** Must there be a value? */
  readonly 'aria-required': boolean
}

/** A labelled control with its description, its constraints and what is wrong with it. */
export function FieldFrame({
  field,
  children,
}: {
  readonly field: FieldProps
  readonly children: (attributes: ControlAttributes) => ComponentChildren
}): JSX.Element {
  const id = useId()
  const { schema, label, isRequired } = field
  const issue = issueOf(field)
  const hint = [typeof schema.description === 'string' ? schema.description : '', constraintsOf(schema)]
    .filter(Boolean)
    .join(' · ')
  const describedBy = [hint && `${id}-hint`, issue && `${id}-issue`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>
        {visibleLine(label)}
        {isRequired ? '' : <span class="muted"> optional</span>}
      </label>
      {children({
        id,
        'aria-describedby': describedBy || undefined,
        'aria-invalid': issue !== undefined,
        'aria-required': isRequired,
      })}
      {hint && (
        <p class="field-hint" id={`${id}-hint`}>
          {visibleLine(hint)}
        </p>
      )}
      {issue && (
        <p class="field-issue" id={`${id}-issue`}>
          {visibleLine(issue)}
        </p>
      )}
    </div>
  )
}
