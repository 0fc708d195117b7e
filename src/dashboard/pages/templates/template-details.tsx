import { Alert, Box, Divider, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconInfoCircle } from '@tabler/icons-react'
import { useState } from 'react'
import type { OwnTemplate, SentTest } from '../../../../contracts/dashboard/template.ts'
import { readFailure } from '../../api/failure.ts'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { describeStatus } from './describe-status.ts'
import { MessagePreview } from './message-preview.tsx'
import { placeProblems } from './place-problems.ts'
import { SendTest } from './send-test.tsx'
import { TemplateFacts } from './template-facts.tsx'
import { VariableFields } from './variable-fields.tsx'

interface TemplateDetailsProps {
  template: OwnTemplate
  whatsAppAccountId: string | undefined
  to: string
  onTo: (to: string) => void
}

/** How it looks with these variables, and a way to try it. */
export function TemplateDetails({ template, whatsAppAccountId, to, onTo }: TemplateDetailsProps) {
  const { accountId } = useAccount()
  const keys = template.placeholders.map(({ key }) => key)
  const [sent, setSent] = useState<SentTest>()
  const [problem, setProblem] = useState<string>()
  const form = useForm<{ to: string; variables: Record<string, string> }>({
    initialValues: {
      to,
      variables: Object.fromEntries(template.placeholders.map(({ key, example = '' }) => [key, example])),
    },
    validate: { to: (number) => (number.trim() === '' ? 'Type a phone number of your own.' : null) },
    onValuesChange: ({ to }) => onTo(to),
  })
  const send = useChange({
    change: settings.template.sendTest.mutate,
    invalidates: [['messages', accountId]],
    onDone: setSent,
    onFailure: (error) => {
      const { fields, rest } = placeProblems(readFailure(error), keys)
      form.setErrors(fields)
      setProblem(rest)
    },
  })
  const submit = form.onSubmit(({ to, variables }) => {
    setProblem(undefined)
    setSent(undefined)
    send.mutate({
      accountId,
      to: withoutPunctuation(to),
      template: template.name,
      language: template.language,
      ...(keys.length > 0 && { variables }),
      ...(whatsAppAccountId !== undefined && { whatsAppAccountId }),
    })
  })
  return (
    <form onSubmit={submit} noValidate>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl">
        <Stack gap="lg">
          {!template.sendable && <Obstacle template={template} />}
          <MessagePreview template={template} variables={form.values.variables} />
          <Box visibleFrom="sm">
            <TemplateFacts template={template} />
          </Box>
        </Stack>
        <Stack gap="lg">
          <Box component="section">
            <Title order={3} mb={4}>
              Variables
            </Title>
            <VariableFields placeholders={template.placeholders} form={form} />
          </Box>
          <Divider />
          <SendTest
            sendable={template.sendable}
            field={form.getInputProps('to')}
            pending={send.isPending}
            sent={sent}
            problem={problem}
          />
          {/* Not between the preview and what is typed into it. */}
          <Box hiddenFrom="sm">
            <Divider mb="lg" />
            <TemplateFacts template={template} />
          </Box>
        </Stack>
      </SimpleGrid>
    </form>
  )
}

function Obstacle({ template: { status, reason } }: { template: OwnTemplate }) {
  return (
    <Alert color={status === 'APPROVED' ? 'gray' : 'yellow'} icon={<IconInfoCircle />} title="It cannot be sent">
      <Text size="sm">
        {status === 'APPROVED'
          ? `WhatsApp has approved it, but ${reason ?? 'Waybill cannot send it'}.`
          : describeStatus(status).meaning}
      </Text>
    </Alert>
  )
}

/** People write their number with a plus, spaces and hyphens; the API takes digits. */
function withoutPunctuation(number: string): string {
  return number.replaceAll(/[\s()+.-]/g, '')
}
