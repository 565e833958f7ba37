import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { isRecord, type JsonObject } from '../../../../src/core/base/json.ts'
import { Button } from '../Button.tsx'
import { visibleLine } from '../visible-text.ts'
import { checkValue, memberPath } from './check-value.ts'
import { FieldFrame } from './FieldFrame.tsx'
import { type FieldProps, issueOf } from './field-props.ts'
import { initialValue } from './initial-value.ts'
import { BooleanField, ChoiceField, NumberField, RawField, TextField } from './scalar-fields.tsx'
import { onlyValue, resolveSchema, type Shape, shapeOf, variantName } from './shape.ts'

/** The field that edits a value of any schema. */
export function Field(props: FieldProps): JSX.Element {
  const schema = resolveSchema(props.schema, props.root)
  const shape = shapeOf(schema, props.level)
  const field = { ...props, schema, label: typeof schema.title === 'string' ? schema.title : props.label }
  switch (shape.type) {
    case 'choice':
      return <ChoiceField {...field} options={shape.options} />
    case 'text':
      return <TextField {...field} />
    case 'number':
      return <NumberField {...field} />
    case 'boolean':
      return <BooleanField {...field} />
    case 'null':
      return <p class="field-hint">No value is sent for {visibleLine(field.label)}.</p>
    case 'list':
      return <ListField {...field} item={shape.item} />
    case 'object':
      return <ObjectField {...field} shape={shape} />
    case 'variants':
      return <VariantField {...field} variants={shape.variants} />
    default:
      return <RawField {...field} />
  }
}

function ObjectField(props: FieldProps & { readonly shape: Shape & { type: 'object' } }): JSX.Element {
  const { shape, root, path, level, value, issues, isRequired, onChange } = props
  const members: JsonObject = isRecord(value) ? value : {}
  const change = (name: string, next: unknown): void => {
    const { [name]: _, ...others } = members
    onChange(next === undefined ? others : { ...members, [name]: next })
  }
  const isTag = ([name, schema]: readonly [string, JsonObject]): boolean =>
    shape.required.has(name) && members[name] !== undefined && members[name] === onlyValue(resolveSchema(schema, root))
  const shown = shape.properties.filter((property) => !isTag(property)) // a tag leaves no choice
  const fields = shown.map(([name, schema]) => (
    <Field
      key={name}
      {...{ schema, root, issues }}
      label={name}
      path={memberPath(path, name)}
      level={level + 1}
      value={Object.hasOwn(members, name) ? members[name] : undefined}
      isRequired={shape.required.has(name)}
      onChange={(next) => change(name, next)}
    />
  ))
  if (level === 0 && shape.properties.length === 0) return <p class="field-hint">It takes no arguments.</p>
  if (level === 0) return <div class="fields">{fields}</div>
  const isAbsent = value === undefined && !isRequired
  return (
    <Group
      {...props}
      action={isAbsent ? 'Add' : isRequired ? undefined : 'Remove'}
      onAction={() => onChange(isAbsent ? (initialValue(props.schema, root, level) ?? {}) : undefined)}
    >
      {isAbsent ? null : fields}
    </Group>
  )
}

function ListField(props: FieldProps & { readonly item: JsonObject }): JSX.Element {
  const { item, root, path, level, value, issues, isRequired, onChange } = props
  const items: readonly unknown[] = Array.isArray(value) ? value : []
  // the key of an item is the count of changes before it, so that its fields keep their text when another is removed
  const [keys, setKeys] = useState<readonly number[]>(items.map((_, at) => at))
  const add = (): void => {
    setKeys([...keys, Math.max(-1, ...keys) + 1])
    onChange([...items, initialValue(item, root, level + 1) ?? null])
  }
  const remove = (at: number): void => {
    setKeys(keys.toSpliced(at, 1))
    const left = items.toSpliced(at, 1)
    onChange(left.length === 0 && !isRequired ? undefined : left)
  }
  return (
    <Group {...props} action="Add item" onAction={add}>
      {items.map((one, at) => (
        <div class="list-item" key={keys[at] ?? at}>
          <Field
            {...{ schema: item, root, issues }}
            label={`${props.label} ${at + 1}`}
            path={`${path}[${at}]`}
            level={level + 1}
            value={one}
            isRequired
            onChange={(next) => onChange(items.with(at, next ?? null))}
          />
          <Button icon="trash" kind="plain" label={`Remove item ${at + 1}`} onClick={() => remove(at)} />
        </div>
      ))}
    </Group>
  )
}

function VariantField(props: FieldProps & { readonly variants: readonly JsonObject[] }): JSX.Element {
  const { variants, root, value, level, label, isRequired, onChange } = props
  const [chosen, setChosen] = useState(() => matching(variants, root, value))
  const choose = (at: number): void => {
    setChosen(at)
    const variant = variants[at]
    onChange(variant && initialValue(variant, root, level + 1))
  }
  const variant = variants[chosen]
  return (
    <div class="variants">
      <FieldFrame field={{ ...props, label: `Kind of ${label}` }}>
        {(attributes) => (
          <select
            {...attributes}
            value={String(chosen)}
            onChange={(event) => choose(Number(event.currentTarget.value))}
          >
            {(!isRequired || chosen < 0) && <option value="-1">{isRequired ? 'Choose…' : 'not set'}</option>}
            {variants.map((one, at) => (
              <option key={at} value={String(at)}>
                {visibleLine(variantName(one, root, at))}
              </option>
            ))}
          </select>
        )}
      </FieldFrame>
      {variant && <Field {...props} key={chosen} schema={variant} level={level + 1} isRequired />}
    </div>
  )
}

function matching(variants: readonly JsonObject[], root: JsonObject, value: unknown): number {
  if (value === undefined) return -1
  const shared = { $defs: root.$defs ?? {}, definitions: root.definitions ?? {} }
  const fits = variants.findIndex((variant) => checkValue({ ...shared, ...variant }, value).length === 0)
  return fits < 0 ? variants.findIndex((variant) => hasTag(resolveSchema(variant, root), value)) : fits
}

/** Has the value, which is not complete, the tag of a variant? */
function hasTag({ properties }: JsonObject, value: unknown): boolean {
  if (!isRecord(properties) || !isRecord(value)) return false
  return Object.entries(properties).some(([name, property]) => {
    const tag = isRecord(property) ? onlyValue(property) : undefined
    return tag !== undefined && tag === value[name]
  })
}

interface GroupProps extends FieldProps {
  readonly action: string | undefined
  onAction(): void
  readonly children: JSX.Element | readonly JSX.Element[] | null
}

function Group({ schema, label, action, onAction, children, ...field }: GroupProps): JSX.Element {
  const issue = issueOf(field)
  return (
    <fieldset class="field-group">
      <legend>{visibleLine(label)}</legend>
      {typeof schema.description === 'string' && <p class="field-hint">{visibleLine(schema.description)}</p>}
      {children}
      {issue && <p class="field-issue">{visibleLine(issue)}</p>}
      {action && (
        <Button onClick={onAction} aria-label={`${action}: ${visibleLine(label)}`}>
          {action}
        </Button>
      )}
    </fieldset>
  )
}
