import { type MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { ActionIcon, Group, Menu, Paper, Select, Stack, Text, TextInput } from '@mantine/core'
import { IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react'
import {
  listVariables,
  type TemplateButtonDefinition,
  type TemplateButtonType,
  templateLimits,
} from '../../../../../contracts/templates/definition.ts'
import { translate } from '../../../language/i18n.ts'
import { newButton } from './draft.ts'
import { countOf, type ErrorOf } from './fields.tsx'
import { Button } from '../../../ui/button.tsx'

const kinds: Record<TemplateButtonType, MessageDescriptor> = {
  QUICK_REPLY: msg`Quick reply`,
  URL: msg`Open a website`,
  PHONE_NUMBER: msg`Call a phone number`,
  COPY_CODE: msg`Copy an offer code`,
  FLOW: msg`Open a flow`,
  VOICE_CALL: msg`Call on WhatsApp`,
  REQUEST_CONTACT_INFO: msg`Ask for the phone number`,
  CATALOG: msg`Show the catalogue`,
  MPM: msg`Show products`,
  SPM: msg`Show the product of the header`,
}

interface ButtonListProps {
  value: TemplateButtonDefinition[]
  onChange: (value: TemplateButtonDefinition[]) => void
  path: string
  errorOf: ErrorOf
  /** The available types; all by default. */
  types?: readonly TemplateButtonType[]
  max: number
}

export function ButtonList({ value, onChange, path, errorOf, types, max }: ButtonListProps) {
  // The cast is needed because `Object.keys` returns `string[]`. SPM is excluded, because it comes with a product header.
  const offered = types ?? (Object.keys(kinds) as TemplateButtonType[]).filter((type) => type !== 'SPM')
  const change = (index: number, button: TemplateButtonDefinition) => onChange(value.with(index, button))
  const moveUp = (index: number) => {
    const [above, moved] = [value[index - 1], value[index]]
    if (above && moved) onChange(value.with(index - 1, moved).with(index, above))
  }
  const problem = errorOf(path, value.length > 0 ? value : undefined)
  return (
    <Stack gap="sm">
      {value.map((button, index) => (
        <Paper key={index} withBorder p="sm" component="fieldset" m={0}>
          <Group justify="space-between" mb="xs">
            <Text component="legend" size="sm" fw={600}>
              {index + 1}. {translate(kinds[button.type])}
            </Text>
            <Group gap={4}>
              {index > 0 && (
                <ActionIcon variant="subtle" aria-label={t`Move button ${index + 1} up`} onClick={() => moveUp(index)}>
                  <IconArrowUp size={16} />
                </ActionIcon>
              )}
              <ActionIcon
                variant="subtle"
                color="red"
                aria-label={t`Remove button ${index + 1}`}
                onClick={() => onChange(value.toSpliced(index, 1))}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </Group>
          </Group>
          <ButtonFields
            value={button}
            onChange={(next) => change(index, next)}
            path={`${path}.${index}`}
            errorOf={errorOf}
          />
        </Paper>
      ))}
      {problem !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {problem}
        </Text>
      )}
      {value.length < max && (
        <Menu position="bottom-start" withinPortal>
          <Menu.Target>
            <Button variant="default" size="xs" w="fit-content" icon={IconPlus}>{t`Add button`}</Button>
          </Menu.Target>
          <Menu.Dropdown>
            {offered.map((type) => (
              <Menu.Item key={type} onClick={() => onChange([...value, newButton(type)])}>
                {translate(kinds[type])}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </Stack>
  )
}

interface ButtonFieldsProps {
  value: TemplateButtonDefinition
  onChange: (value: TemplateButtonDefinition) => void
  path: string
  errorOf: ErrorOf
}

function ButtonFields({ value, onChange, path, errorOf }: ButtonFieldsProps) {
  const { type, text, url, phoneNumber, example, flowId, flowAction, navigateScreen } = value
  const takesExample = type === 'COPY_CODE' || (url !== undefined && listVariables(url).length > 0)
  return (
    <Stack gap="xs">
      {text !== undefined && (
        <TextInput
          label={t`Label`}
          description={countOf(text, templateLimits.labelCharacters)}
          value={text}
          error={errorOf(`${path}.text`, text)}
          onChange={({ currentTarget }) => onChange({ ...value, text: currentTarget.value })}
        />
      )}
      {url !== undefined && (
        <TextInput
          label="URL"
          description={t`Can end with the variable ${'{{1}}'}.`}
          placeholder="https://example.com/track/{{1}}"
          value={url}
          error={errorOf(`${path}.url`, url)}
          onChange={({ currentTarget: { value: next } }) => {
            const { example: before = '', ...rest } = value
            onChange({ ...rest, url: next, ...(listVariables(next).length > 0 && { example: before }) })
          }}
        />
      )}
      {phoneNumber !== undefined && (
        <TextInput
          label={t`Phone number`}
          type="tel"
          placeholder="+34600111222"
          value={phoneNumber}
          error={errorOf(`${path}.phoneNumber`, phoneNumber)}
          onChange={({ currentTarget }) => onChange({ ...value, phoneNumber: currentTarget.value })}
        />
      )}
      {takesExample && (
        <TextInput
          label={type === 'COPY_CODE' ? t`Example code` : t`Example of ${'{{1}}'}`}
          value={example ?? ''}
          error={errorOf(`${path}.example`, example)}
          onChange={({ currentTarget }) => onChange({ ...value, example: currentTarget.value })}
        />
      )}
      {flowId !== undefined && (
        <>
          <TextInput
            label={t`Flow ID`}
            value={flowId}
            error={errorOf(`${path}.flowId`, flowId)}
            onChange={({ currentTarget }) => onChange({ ...value, flowId: currentTarget.value })}
          />
          <Select
            label={t`Flow action`}
            clearable
            data={[
              { value: 'navigate', label: t`Open a screen` },
              { value: 'data_exchange', label: t`Request data from your endpoint` },
            ]}
            value={flowAction ?? null}
            onChange={(next) => {
              const { flowAction: _, ...rest } = value
              onChange({ ...rest, ...(next !== null && { flowAction: next }) })
            }}
          />
          {flowAction === 'navigate' && (
            <TextInput
              label={t`First screen`}
              value={navigateScreen ?? ''}
              error={errorOf(`${path}.navigateScreen`, navigateScreen)}
              onChange={({ currentTarget }) => onChange({ ...value, navigateScreen: currentTarget.value })}
            />
          )}
        </>
      )}
    </Stack>
  )
}
