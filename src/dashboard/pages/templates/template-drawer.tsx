import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Box, Divider, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { IconInfoCircle, IconTemplateOff } from '@tabler/icons-react'
import { useState } from 'react'
import type { Placeholder } from '../../../../contracts/api/template.ts'
import type { OwnTemplate, SentTest } from '../../../../contracts/dashboard/template.ts'
import { readFailure } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { say } from '../../language/facts.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { QualityBadge } from '../../ui/badges.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { DescriptionList } from '../../ui/lists.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/placeholders.tsx'
import { findNumberProblem } from '../../ui/number-problem.ts'
import { withoutPunctuation } from '../../ui/phone-number.ts'
import { MediaField, mediaKindOf } from './media-field.tsx'
import { MessagePreview } from './message-preview.tsx'
import {
  exampleValues,
  listValueFields,
  placeProblems,
  type TemplateValues,
  toRequestValues,
  type ValueField,
} from './template-values.ts'
import { SendTest } from './send-test.tsx'
import { TemplateActions } from './template-actions.tsx'
import { describeLanguage, TemplateStatusBadge, UpcomingCategoryAlert } from './template-list.tsx'
import { describeRejection, describeStatus, inWords } from './template-status.ts'
import type { TemplateName } from './use-templates.ts'

interface TemplateDrawerProps {
  opened: TemplateName | undefined
  templates: OwnTemplate[]
  whatsAppAccountId: string | undefined
  onClose: () => void
}

export function TemplateDrawer({ opened, templates, whatsAppAccountId, onClose }: TemplateDrawerProps) {
  // Kept while the user tests several templates.
  const [to, setTo] = useState('')
  const template = templates.find(({ name, language }) => name === opened?.name && language === opened.language)
  return (
    <Drawer
      opened={opened !== undefined}
      onClose={onClose}
      position="right"
      size="min(960px, 100%)"
      padding="lg"
      title={opened && describeTitle(opened)}
      styles={{ title: { fontWeight: 650, fontSize: '1.125rem', overflowWrap: 'anywhere' } }}
    >
      {template && (
        <TemplateDetails
          key={`${template.name} ${template.language}`}
          template={template}
          whatsAppAccountId={whatsAppAccountId}
          to={to}
          onTo={setTo}
          onClose={onClose}
        />
      )}
      {opened && !template && (
        <EmptyState icon={IconTemplateOff} title={t`Template not found`}>
          {opened.language === '' ? (
            <Trans>
              This WhatsApp account has no template {opened.name} in this language. It may have been deleted, or belong
              to another WhatsApp account.
            </Trans>
          ) : (
            <Trans>
              This WhatsApp account has no template {opened.name} in {opened.language}. It may have been deleted, or
              belong to another WhatsApp account.
            </Trans>
          )}
        </EmptyState>
      )}
    </Drawer>
  )
}

/** Templates of one name differ in their language. */
function describeTitle({ name, language }: TemplateName): string {
  return language === '' ? name : `${name} · ${describeLanguage(language)}`
}

interface TemplateDetailsProps {
  template: OwnTemplate
  whatsAppAccountId: string | undefined
  to: string
  onTo: (to: string) => void
  onClose: () => void
}

interface TestForm {
  to: string
  variables: Record<string, string>
  values: TemplateValues
}

/** Preview, variables and test of a template. */
function TemplateDetails({ template, whatsAppAccountId, to, onTo, onClose }: TemplateDetailsProps) {
  const { accountId } = useAccount()
  const valueFields = listValueFields(template)
  const paths = valueFields.map(({ path }) => path)
  const takesCode = template.example?.code !== undefined
  // The one-time code also fills the variable.
  const placeholders = takesCode ? [] : template.placeholders
  const keys = placeholders.map(({ key }) => key)
  const [sent, setSent] = useState<SentTest>()
  const [problem, setProblem] = useState<string>()
  const form = useForm<TestForm>({
    initialValues: {
      to,
      variables: Object.fromEntries(placeholders.map(({ key, example = '' }) => [key, example])),
      values: exampleValues(template),
    },
    validate: { to: (number) => findNumberProblem(number) ?? null },
    onValuesChange: ({ to }) => onTo(to),
  })
  const send = useChange({
    change: api.template.sendTest.mutate,
    invalidates: [['messages', accountId]],
    onDone: setSent,
    onFailure: (error) => {
      const { fields, rest } = placeProblems(readFailure(error), { keys, paths })
      form.setErrors(fields)
      setProblem(rest)
    },
  })
  const submit = form.onSubmit(({ to, variables, values }) => {
    setProblem(undefined)
    setSent(undefined)
    send.mutate({
      accountId,
      to: withoutPunctuation(to),
      template: template.name,
      language: template.language,
      ...(keys.length > 0 && { variables }),
      ...toRequestValues(values, template),
      ...(whatsAppAccountId !== undefined && { whatsAppAccountId }),
    })
  })
  return (
    <form onSubmit={submit} noValidate>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl">
        <Stack gap="lg">
          {!template.sendable && <NotSendableAlert template={template} />}
          <UpcomingCategoryAlert template={template} />
          <MessagePreview
            template={template}
            variables={takesCode ? fillAll(template, form.values.values.code ?? '') : form.values.variables}
            headerText={form.values.values.header?.text ?? ''}
          />
          <TemplateActions template={template} whatsAppAccountId={whatsAppAccountId} onDeleted={onClose} />
          <Box visibleFrom="sm">
            <TemplateProperties template={template} />
          </Box>
        </Stack>
        <Stack gap="lg">
          <Box component="section">
            <Title order={3} mb={4}>{t`Variables`}</Title>
            <ValueFields
              placeholders={placeholders}
              valueFields={valueFields}
              whatsAppAccountId={whatsAppAccountId}
              form={form}
            />
          </Box>
          <Divider />
          <SendTest
            sendable={template.sendable}
            field={form.getInputProps('to')}
            onChooseRecipient={(to) => form.setFieldValue('to', to)}
            typed={form.values.to}
            category={template.category}
            pending={send.isPending}
            sent={sent}
            problem={problem}
            error={send.error}
          />
          {/* Below the variables, so that they stay next to the preview. */}
          <Box hiddenFrom="sm">
            <Divider mb="lg" />
            <TemplateProperties template={template} />
          </Box>
        </Stack>
      </SimpleGrid>
    </form>
  )
}

function NotSendableAlert({ template: { status, reason, rejectedReason, facts } }: { template: OwnTemplate }) {
  if (status === 'PENDING')
    return (
      <Alert color="gray" icon={<IconInfoCircle />} title={describeStatus(status).meaning}>
        <Text size="sm">
          <Trans>A review takes from a few minutes to a day. The template can be sent once it is approved.</Trans>
        </Text>
      </Alert>
    )
  return (
    <Alert
      color={status === 'APPROVED' ? 'gray' : 'yellow'}
      icon={<IconInfoCircle />}
      title={t`This template cannot be sent`}
    >
      <Text size="sm">
        {status === 'APPROVED'
          ? t`WhatsApp approved it, but ${reason === undefined ? t`Waybill cannot send it` : say({ reason, facts }, 'reason')}.`
          : status === 'REJECTED'
            ? describeRejection(rejectedReason)
            : describeStatus(status).meaning}
      </Text>
    </Alert>
  )
}

function TemplateProperties({ template }: { template: OwnTemplate }) {
  const { category, qualityScore, rejectedReason, syncedAt } = template
  return (
    <DescriptionList
      items={[
        { name: t`Status`, value: <TemplateStatusBadge template={template} /> },
        rejectedReason !== undefined && { name: t`Rejection reason`, value: inWords(rejectedReason) },
        category !== undefined && { name: t`Category`, value: inWords(category) },
        { name: t`Quality`, value: <QualityBadge quality={qualityScore} /> },
        { name: t`Last synced`, value: <DateTime at={syncedAt} /> },
      ]}
    />
  )
}

function fillAll({ placeholders }: OwnTemplate, value: string): Record<string, string> {
  return Object.fromEntries(placeholders.map(({ key }) => [key, value]))
}

interface ValueFieldsProps {
  placeholders: Placeholder[]
  valueFields: ValueField[]
  whatsAppAccountId: string | undefined
  form: UseFormReturnType<TestForm>
}

function ValueFields({ placeholders, valueFields, whatsAppAccountId, form }: ValueFieldsProps) {
  if (placeholders.length === 0 && valueFields.length === 0)
    return <Text size="sm" c="dimmed">{t`This template has no variables.`}</Text>
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">{t`Prefilled with examples. The preview updates as you type.`}</Text>
      {placeholders.map(({ key }) => (
        <TextInput
          key={key}
          label={`{{${key}}}`}
          autoComplete="off"
          styles={{ label: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          {...form.getInputProps(`variables.${key}`)}
        />
      ))}
      {valueFields.map((field) => (
        <ValueInput key={field.path} field={field} whatsAppAccountId={whatsAppAccountId} form={form} />
      ))}
    </Stack>
  )
}

interface ValueInputProps extends Pick<ValueFieldsProps, 'whatsAppAccountId' | 'form'> {
  field: ValueField
}

function ValueInput({ field: { path, label }, whatsAppAccountId, form }: ValueInputProps) {
  const kind = mediaKindOf(path)
  const input = form.getInputProps(`values.${path}`)
  if (kind === undefined) return <TextInput label={label} autoComplete="off" {...input} />
  // The file: its link, or the ID that replaces the link.
  const filePath = `values.${path.replace(/\.link$/, '')}`
  const { link: _link, mediaId, ...rest } = form.getInputProps(filePath).value as StoredFile
  return (
    <MediaField
      label={label}
      kind={kind}
      whatsAppAccountId={whatsAppAccountId}
      isUploaded={mediaId !== undefined}
      onChange={(id) =>
        form.setFieldValue(filePath, id === undefined ? { ...rest, link: '' } : { ...rest, mediaId: id })
      }
      field={input}
    />
  )
}

interface StoredFile {
  link?: string
  mediaId?: string
}
