import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group, Select, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { IconVariablePlus } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import {
  exampleOfVariable,
  listVariables,
  type TemplateBodyDefinition,
  type TemplateHeaderDefinition,
  templateLimits,
} from '../../../../../contracts/templates/definition.ts'
import { translate } from '../../../language/i18n.ts'
import { isSampleFormat } from '../../../../../contracts/templates/samples.ts'
import { nextVariable, toVariableName, withBodyText, withHeaderFormat, withRenamedVariable } from './draft.ts'
import { SampleField } from './sample-field.tsx'
import { Button } from '../../../ui/button.tsx'

/** Returns the problem of a field, if it should be shown already. */
export type ErrorOf = (path: string, value?: unknown) => string | undefined

interface PartProps<Part> {
  value: Part
  onChange: (value: Part) => void
  /** Dotted path of the part, such as `cards.0.header`. */
  path: string
  errorOf: ErrorOf
}

/** The character count next to a label, counted like WhatsApp does. */
export function countOf(text: string | undefined, limit: number): string {
  const used = [...(text ?? '')].length
  return t`${used} of ${limit} characters`
}

const formats = [
  { value: 'NONE', label: msg`None` },
  { value: 'TEXT', label: msg`Text` },
  { value: 'IMAGE', label: msg`Image` },
  { value: 'VIDEO', label: msg`Video` },
  { value: 'DOCUMENT', label: msg`Document` },
  { value: 'LOCATION', label: msg`Location` },
  { value: 'PRODUCT', label: msg`Product of your catalogue` },
] as const

interface HeaderFieldsProps extends PartProps<TemplateHeaderDefinition | undefined> {
  /** The available formats; all by default. */
  kinds?: readonly string[]
}

export function HeaderFields({ value, onChange, path, errorOf, kinds }: HeaderFieldsProps) {
  const format = value?.format ?? 'NONE'
  const offered = formats.filter((one) => kinds === undefined || kinds.includes(one.value))
  const hasVariable = value?.text !== undefined && listVariables(value.text).length > 0
  return (
    <Stack gap="sm">
      <Select
        label={t`Header`}
        data={offered.map(({ value: kind, label }) => ({ value: kind, label: translate(label) }))}
        value={format}
        allowDeselect={false}
        error={errorOf(`${path}.format`)}
        onChange={(next) => onChange(withHeaderFormat(next ?? 'NONE'))}
      />
      {value?.format === 'TEXT' && (
        <TextInput
          label={t`Header text`}
          description={countOf(value.text, templateLimits.headerCharacters)}
          value={value.text ?? ''}
          error={errorOf(`${path}.text`, value.text)}
          onChange={({ currentTarget: { value: text } }) =>
            onChange({ format: 'TEXT', text, ...(listVariables(text).length > 0 && { example: value.example ?? '' }) })
          }
        />
      )}
      {value && hasVariable && (
        <TextInput
          label={t`Example of the header variable`}
          value={value.example ?? ''}
          error={errorOf(`${path}.example`, value.example)}
          onChange={({ currentTarget }) => onChange({ ...value, example: currentTarget.value })}
        />
      )}
      {value && isSampleFormat(format) && (
        <SampleField
          key={format}
          header={value}
          format={format}
          error={errorOf(`${path}.sample`, value.sample?.link) ?? errorOf(`${path}.sample.link`)}
          onChange={onChange}
        />
      )}
    </Stack>
  )
}

interface BodyFieldsProps extends PartProps<TemplateBodyDefinition | undefined> {
  limit: number
  label?: string
}

export function BodyFields({ value, onChange, path, errorOf, limit, label = t`Body` }: BodyFieldsProps) {
  const text = value?.text ?? ''
  const area = useRef<HTMLTextAreaElement>(null)
  // A variable is often the last word until the sentence goes on.
  const [isInserted, setIsInserted] = useState(false)
  const keys = listVariables(text)
  const insert = () => {
    const at = area.current?.selectionStart ?? text.length
    onChange(withBodyText(value, `${text.slice(0, at)}{{${nextVariable(text)}}}${text.slice(at)}`))
    setIsInserted(true)
    area.current?.focus()
  }
  return (
    <Stack gap="sm">
      <Textarea
        ref={area}
        label={label}
        description={`${countOf(text, limit)}. ${t`Supports *bold*, _italic_ and ~strikethrough~.`}`}
        autosize
        minRows={4}
        maxRows={14}
        value={text}
        error={isInserted ? undefined : errorOf(`${path}.text`, text)}
        onBlur={() => setIsInserted(false)}
        onChange={({ currentTarget }) => {
          setIsInserted(false)
          onChange(withBodyText(value, currentTarget.value))
        }}
      />
      <Group>
        <Button variant="default" size="xs" icon={IconVariablePlus} onClick={insert}>{t`Add variable`}</Button>
      </Group>
      {keys.length > 0 && (
        <Text size="sm" c="dimmed">
          <Trans>
            Example values show the reviewer what the variables contain. Names such as customer_name help your
            colleagues. Name every variable, or none.
          </Trans>
        </Text>
      )}
      {keys.map((key, index) => (
        // By place, so that a variable keeps its fields when its name changes.
        <SimpleGrid key={index} cols={2} spacing="sm">
          <VariableName
            name={key}
            isTaken={(name) => keys.includes(name)}
            onRename={(name) => value && onChange(withRenamedVariable(value, key, name))}
          />
          <TextInput
            label={t`Example of ${`{{${key}}}`}`}
            value={exampleOfVariable(value ?? {}, key)}
            error={errorOf(`${path}.examples.${key}`, exampleOfVariable(value ?? {}, key))}
            onChange={({ currentTarget }) =>
              onChange({ text, examples: { ...value?.examples, [key]: currentTarget.value } })
            }
          />
        </SimpleGrid>
      ))}
    </Stack>
  )
}

interface VariableNameProps {
  name: string
  isTaken: (name: string) => boolean
  onRename: (name: string) => void
}

/** Renames when the field is left, because half a name may be the name of another variable. */
function VariableName({ name, isTaken, onRename }: VariableNameProps) {
  const [typed, setTyped] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const rename = () => {
    if (typed === undefined) return
    const next = toVariableName(typed)
    if (next === undefined)
      return setProblem(t`WhatsApp allows letters from a to z, digits and underscores, and a letter first.`)
    if (next !== name && isTaken(next)) return setProblem(t`Another variable has this name.`)
    setTyped(undefined)
    if (next !== name) onRename(next)
  }
  return (
    <TextInput
      label={t`Name of ${`{{${name}}}`}`}
      autoComplete="off"
      value={typed ?? name}
      error={problem}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        setProblem(undefined)
      }}
      onBlur={rename}
    />
  )
}
