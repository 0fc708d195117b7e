import { type MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Alert, Box, Button, Divider, Group, Select, SimpleGrid, Stack, Switch, Text, TextInput } from '@mantine/core'
import { IconAlertCircle, IconSend } from '@tabler/icons-react'
import { type SubmitEvent, useContext, useState } from 'react'
import { translate } from '../../../language/i18n.ts'
import type { TemplateChange } from '../../../../../contracts/api/template-changes.ts'
import {
  type TemplateCategory,
  type TemplateDefinition,
  type TemplateHeaderDefinition,
  templateLanguages,
  templateLimits,
} from '../../../../../contracts/templates/definition.ts'
import { maxBodyOf } from '../../../../../contracts/templates/rules.ts'
import { readFailure } from '../../../api/failure.ts'
import { api } from '../../../api/client.ts'
import { useChange } from '../../../api/use-change.ts'
import { useAccount } from '../../../session/session.ts'
import { ChangeButton } from '../../../ui/button.tsx'
import { Section } from '../../../ui/page.tsx'
import { ErrorAlert } from '../../../ui/placeholders.tsx'
import { MessagePreview, type PreviewFile } from '../message-preview.tsx'
import { describeLanguage } from '../template-list.tsx'
import { useTemplates } from '../use-templates.ts'
import { ButtonList } from './button-fields.tsx'
import { CardList, OfferFields } from './card-fields.tsx'
import { CodeFields } from './code-fields.tsx'
import {
  describePath,
  listProblems,
  newCard,
  previewValues,
  toPreview,
  toSubmission,
  withCategory,
  withProductButton,
} from './draft.ts'
import { BodyFields, countOf, type ErrorOf, HeaderFields } from './fields.tsx'
import { SampleFiles } from './sample-field.tsx'

const categories: { value: TemplateCategory; label: MessageDescriptor }[] = [
  { value: 'UTILITY', label: msg`Utility: order or account updates` },
  { value: 'MARKETING', label: msg`Marketing: offers and news` },
  { value: 'AUTHENTICATION', label: msg`Authentication: one-time codes` },
]

interface TemplateEditorProps {
  start: TemplateDefinition
  /** The name and language of an existing template cannot be changed. */
  isNew: boolean
  whatsAppAccountId: string | undefined
  onDone: (change: TemplateChange) => void
  onCancel: () => void
}

/** The template editor, with a live preview and validation. */
export function TemplateEditor({ start, isNew, whatsAppAccountId, onDone, onCancel }: TemplateEditorProps) {
  const { accountId } = useAccount()
  const [template, setTemplate] = useState(start)
  const [isSubmitted, setIsSubmitted] = useState(false)
  const [refusal, setRefusal] = useState<{ message?: string; fields: Readonly<Record<string, string>> }>({ fields: {} })
  const taken = useTakenName(template, { isNew, whatsAppAccountId })
  const problems: Readonly<Record<string, string>> = {
    ...listProblems(toSubmission(template)),
    ...(taken !== undefined && { name: taken }),
  }
  // An untouched field shows no error before the first attempt to submit.
  const errorOf: ErrorOf = (path, value) =>
    refusal.fields[path] ?? (isSubmitted || (value !== undefined && value !== '') ? problems[path] : undefined)
  const change = (next: TemplateDefinition) => {
    setTemplate(next)
    setRefusal({ fields: {} })
  }
  const submit = useChange({
    change: (definition: TemplateDefinition) =>
      api.template[isNew ? 'create' : 'update'].mutate({
        accountId,
        template: definition,
        ...(whatsAppAccountId !== undefined && { whatsAppAccountId }),
      }),
    invalidates: [['templates', accountId]],
    done: ({ changed, notice }) =>
      notice ??
      (changed ? t`Submitted. WhatsApp is reviewing it.` : t`WhatsApp already has this template. Nothing was changed.`),
    onDone,
    onFailure: (error) => {
      const { message, fields } = readFailure(error)
      const named = Object.entries(fields).map(([path, problem]) => [path.replace(/^template\./, ''), problem])
      setRefusal({ message, fields: Object.fromEntries(named) as Record<string, string> })
    },
  })
  const onSubmit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    setIsSubmitted(true)
    if (Object.keys(problems).length === 0) submit.mutate(toSubmission(template))
  }
  const open = Object.keys(problems).length
  const [files, setFiles] = useState<ReadonlyMap<string, PreviewFile>>(new Map())
  const addFile = (handle: string, file: PreviewFile) => setFiles((before) => new Map(before).set(handle, file))
  return (
    <SampleFiles value={{ whatsAppAccountId, files, addFile }}>
      <form onSubmit={onSubmit} noValidate>
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
          <Box>
            <Basics template={template} onChange={change} isNew={isNew} errorOf={errorOf} />
            <Box hiddenFrom="md" mb="lg">
              <Preview template={template} />
            </Box>
            <Content template={template} onChange={change} errorOf={errorOf} />
            {refusal.message !== undefined && <ErrorAlert title={t`Not submitted`} error={refusal.message} />}
            {isSubmitted && open > 0 && (
              <Alert
                color="red"
                icon={<IconAlertCircle />}
                mb="md"
                title={t`WhatsApp would reject this template`}
                role="alert"
              >
                {Object.entries(problems).map(([path, problem]) => (
                  <Text key={path} size="sm">
                    <b>{describePath(path)}</b>: {problem}
                  </Text>
                ))}
              </Alert>
            )}
            <Group>
              <ChangeButton type="submit" icon={IconSend} loading={submit.isPending}>
                {isNew ? t`Submit for review` : t`Submit changes`}
              </ChangeButton>
              <Button variant="default" onClick={onCancel}>{t`Cancel`}</Button>
            </Group>
          </Box>
          <Box visibleFrom="md">
            <Box pos="sticky" top="calc(var(--app-shell-header-offset, 0px) + var(--mantine-spacing-md))">
              <Preview template={template} />
            </Box>
          </Box>
        </SimpleGrid>
      </form>
    </SampleFiles>
  )
}

/** Why a new template cannot have its name: the WhatsApp account already has one with it in this language. */
function useTakenName(
  { name, language }: TemplateDefinition,
  { isNew, whatsAppAccountId }: Pick<TemplateEditorProps, 'isNew' | 'whatsAppAccountId'>,
): string | undefined {
  const existing = useTemplates(whatsAppAccountId).data?.items ?? []
  if (!isNew || !existing.some((one) => one.name === name && one.language === language)) return undefined
  return t`There is already a template ${name} in this language. Choose another name.`
}

function Preview({ template }: { template: TemplateDefinition }) {
  const { files } = useContext(SampleFiles)
  const fileOf = (header: TemplateHeaderDefinition | undefined) => files.get(header?.sample?.handle ?? '')
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs">{t`Preview with your example values`}</Text>
      <MessagePreview
        template={{ components: toPreview(template), language: template.language }}
        variables={previewValues(template)}
        headerText={template.header?.example ?? ''}
        headerFile={fileOf(template.header)}
        cardFiles={template.cards?.map(({ header }) => fileOf(header)) ?? []}
      />
    </>
  )
}

interface PartsProps {
  template: TemplateDefinition
  onChange: (template: TemplateDefinition) => void
  errorOf: ErrorOf
}

function Basics({ template, onChange, isNew, errorOf }: PartsProps & { isNew: boolean }) {
  return (
    <Section title={t`Template`}>
      <Stack gap="sm">
        <TextInput
          label={t`Name`}
          description={t`Lower-case letters, digits and underscores.`}
          disabled={!isNew}
          value={template.name}
          error={errorOf('name', template.name)}
          onChange={({ currentTarget }) =>
            onChange({ ...template, name: currentTarget.value.toLowerCase().replaceAll(/[\s-]+/g, '_') })
          }
        />
        <Select
          label={t`Language`}
          placeholder={t`Choose a language`}
          searchable
          // What is typed next replaces the language that is shown.
          onFocus={({ currentTarget }) => currentTarget.select()}
          disabled={!isNew}
          data={templateLanguages.map((code) => ({ value: code, label: describeLanguage(code) }))}
          value={template.language}
          allowDeselect={false}
          error={errorOf('language')}
          onChange={(language) => onChange({ ...template, language: language ?? template.language })}
        />
        <Select
          label={t`Category`}
          description={t`WhatsApp can assign another category during its review.`}
          data={categories.map(({ value, label }) => ({ value, label: translate(label) }))}
          value={template.category}
          allowDeselect={false}
          error={errorOf('category', template.category)}
          onChange={(category) => onChange(withCategory(template, category ?? template.category))}
        />
      </Stack>
    </Section>
  )
}

function Content({ template, onChange, errorOf }: PartsProps) {
  const { authentication, cards, limitedTimeOffer, header, body, footer, buttons } = template
  if (authentication)
    return (
      <Section title={t`One-time code`}>
        <CodeFields
          value={authentication}
          errorOf={errorOf}
          onChange={(next) => onChange({ ...template, authentication: next })}
        />
      </Section>
    )
  return (
    <>
      <Section title={t`Message`}>
        <Stack gap="md">
          {!cards && (
            <HeaderFields
              value={header}
              path="header"
              errorOf={errorOf}
              onChange={(next) => onChange(withProductButton(withPart(template, 'header', next), header))}
            />
          )}
          <BodyFields
            value={body}
            path="body"
            errorOf={errorOf}
            limit={maxBodyOf(template)}
            onChange={(next) => onChange(withPart(template, 'body', next))}
          />
          {!cards && !limitedTimeOffer && (
            <TextInput
              label={t`Footer`}
              description={countOf(footer, templateLimits.footerCharacters)}
              value={footer ?? ''}
              error={errorOf('footer', footer)}
              onChange={({ currentTarget }) =>
                onChange(withPart(template, 'footer', currentTarget.value === '' ? undefined : currentTarget.value))
              }
            />
          )}
        </Stack>
      </Section>
      {!cards && header?.format !== 'PRODUCT' && (
        <Section
          title={t`Buttons`}
          description={t`At most 10. Put quick replies together, before or after the other buttons.`}
        >
          <ButtonList
            value={buttons ?? []}
            max={templateLimits.buttons}
            path="buttons"
            errorOf={errorOf}
            onChange={(next) => onChange(withPart(template, 'buttons', next.length === 0 ? undefined : next))}
          />
        </Section>
      )}
      {template.category === 'MARKETING' && <Extras template={template} onChange={onChange} errorOf={errorOf} />}
    </>
  )
}

/** Optional parts of marketing templates that replace other parts. */
function Extras({ template, onChange, errorOf }: PartsProps) {
  const { cards, limitedTimeOffer } = template
  const toggleCards = (isOn: boolean) => {
    const { header: _, footer: __, buttons: ___, limitedTimeOffer: ____, cards: _____, ...rest } = template
    onChange(isOn ? { ...rest, cards: [newCard(), newCard()] } : rest)
  }
  const toggleOffer = (isOn: boolean) => {
    const { footer: _, limitedTimeOffer: __, ...rest } = template
    onChange(isOn ? { ...rest, limitedTimeOffer: { text: '', expires: true } } : rest)
  }
  return (
    <Section title={t`Marketing formats`}>
      <Stack gap="md">
        <Switch
          label={t`Carousel of cards`}
          checked={cards !== undefined}
          disabled={limitedTimeOffer !== undefined}
          onChange={({ currentTarget }) => toggleCards(currentTarget.checked)}
        />
        {cards && (
          <CardList value={cards} errorOf={errorOf} onChange={(next) => onChange({ ...template, cards: next })} />
        )}
        <Divider />
        <Switch
          label={t`Limited-time offer`}
          checked={limitedTimeOffer !== undefined}
          disabled={cards !== undefined}
          onChange={({ currentTarget }) => toggleOffer(currentTarget.checked)}
        />
        {limitedTimeOffer && (
          <OfferFields
            value={limitedTimeOffer}
            errorOf={errorOf}
            onChange={(next) => onChange({ ...template, limitedTimeOffer: next })}
          />
        )}
      </Stack>
    </Section>
  )
}

/** Sets a part, or removes it. */
function withPart<Name extends 'header' | 'body' | 'footer' | 'buttons'>(
  template: TemplateDefinition,
  name: Name,
  part: TemplateDefinition[Name],
): TemplateDefinition {
  const { [name]: _, ...rest } = template
  // The cast is safe because only an optional part is removed.
  return (part === undefined ? rest : { ...rest, [name]: part }) as TemplateDefinition
}
