import { Trans } from '@lingui/react/macro'
import { t } from '@lingui/core/macro'
import { Alert, Anchor, Button, Code, Group, List, Radio, Stack, Text, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconAlertCircle, IconCircleCheck } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { useNavigate } from 'react-router'
import { type ConnectableAccount, type TokenReport } from '../../../../contracts/dashboard/connect.ts'
import { isRegistered } from '../../../../contracts/dashboard/number-status.ts'
import { say } from '../../language/facts.ts'
import { api } from '../../api/client.ts'
import { useFormChange } from '../../api/use-change.ts'
import { useAccount, useUser } from '../../session/session.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { ChangeButton } from '../../ui/button.tsx'
import { DescriptionList } from '../../ui/lists.tsx'
import { BackLink, PageHeader, Section } from '../../ui/page.tsx'
import { AccessTokenField, AppSecretField } from './replace-secrets.tsx'
import { healthKey } from './use-health.ts'
import { whatsAppAccountsKey } from './use-whatsapp-accounts.ts'
import { ViewerNotice } from './viewer-notice.tsx'
import { nameNumber } from '../../ui/phone-number.ts'
import { Form } from '../../ui/form.tsx'

interface Inspected {
  accessToken: string
  report: TokenReport
}

/** The first two steps: the access token and the number. The other steps are on the page of the number. */
export function ConnectPage() {
  const { accountId } = useAccount()
  const [inspected, setInspected] = useState<Inspected>()
  return (
    <>
      <BackLink to={`/${accountId}/whatsapp-accounts`}>{t`WhatsApp accounts`}</BackLink>
      <PageHeader
        title={t`Connect a number`}
        description={t`Waybill needs an access token of your Meta app. Everything else is read from WhatsApp, and each step can be repeated.`}
      />
      <ViewerNotice what={t`connect a number`} />
      <TokenSection report={inspected?.report} onInspected={setInspected} />
      {inspected?.report.valid === true && inspected.report.missing.length === 0 && (
        <NumberSection key={inspected.accessToken} {...inspected} />
      )}
    </>
  )
}

interface TokenSectionProps {
  report: TokenReport | undefined
  onInspected: (inspected: Inspected | undefined) => void
}

function TokenSection({ report, onInspected }: TokenSectionProps) {
  const { accountId, canChange } = useAccount()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { accessToken: '' },
    validate: { accessToken: (token) => (token.trim() === '' ? t`Enter the access token.` : null) },
  })
  const inspect = useFormChange(form, {
    change: api.whatsAppAccount.inspectToken.mutate,
    invalidates: [],
    onDone: (report, { accessToken }) => onInspected({ report, accessToken }),
  })
  const submit = form.onSubmit(({ accessToken }) => {
    onInspected(undefined)
    inspect.submit({ accountId, accessToken: accessToken.trim() })
  })
  return (
    <Section
      title={t`1. Access token`}
      description={t`With it, Waybill sends from your number. It is checked with WhatsApp now, and stored in step 2.`}
    >
      <Form onSubmit={submit} align="stretch" failure={t`Token not checked`} problem={inspect.problem}>
        <AccessTokenField
          description={t`It needs the permissions ${messaging} and ${management}.`}
          disabled={!canChange}
          {...form.getInputProps('accessToken')}
        />
        <Group>
          <ChangeButton type="submit" loading={inspect.isPending}>{t`Check token`}</ChangeButton>
        </Group>
        {report && <TokenResult report={report} />}
      </Form>
      {report?.fix === undefined && report ? null : <TokenInstructions />}
    </Section>
  )
}

/** Where a token comes from (Meta, "Access tokens" and "System users"). */
function TokenInstructions() {
  const { sandbox } = useUser()
  return (
    <Stack gap="sm" mt="lg">
      <Title order={3} size="h5">{t`Where to find a token`}</Title>
      {sandbox && (
        <Text size="sm">
          <Trans>
            In this sandbox, enter <Code>sandbox-token</Code>. The guide lists{' '}
            <NewTabLink href="/docs/sandbox#walk-through-the-setup">tokens for each failure</NewTabLink>.
          </Trans>
        </Text>
      )}
      <Text size="sm">{t`For a server, use a token that does not expire:`}</Text>
      <List type="ordered" size="sm" spacing={4}>
        <List.Item>
          <Trans>
            Open{' '}
            <NewTabLink href="https://business.facebook.com/settings/system-users">
              Business settings → Users → System users
            </NewTabLink>{' '}
            at Meta, and add a system user.
          </Trans>
        </List.Item>
        <List.Item>{t`Select Assign assets: your app and your WhatsApp account, each with full control.`}</List.Item>
        <List.Item>
          <Trans>
            Select Generate token, your app, the expiry “Never”, and both permissions: <Code>{messaging}</Code> to send,{' '}
            <Code>{management}</Code> to read numbers and templates.
          </Trans>
        </List.Item>
        <List.Item>{t`Copy the token. Meta shows it once.`}</List.Item>
      </List>
      <Text size="sm">
        <Trans>
          For a first try, a temporary token is enough: open{' '}
          <NewTabLink href="https://developers.facebook.com/apps">your app</NewTabLink> at Meta, then WhatsApp → API
          Setup → Generate access token. It works for some hours.
        </Trans>
      </Text>
      <Text size="sm" c="dimmed">
        <Trans>
          No app yet? <NewTabLink href="/docs/going-live#1-create-a-meta-app">Create a Meta app</NewTabLink>. More from
          Meta:{' '}
          <NewTabLink href="https://developers.facebook.com/documentation/business-messaging/whatsapp/access-tokens">
            Access tokens
          </NewTabLink>
          .
        </Trans>
      </Text>
    </Stack>
  )
}

const messaging = 'whatsapp_business_messaging'
const management = 'whatsapp_business_management'

function NewTabLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Anchor href={href} target="_blank" rel="noreferrer" inherit underline="always">
      {children}
    </Anchor>
  )
}

function TokenResult({ report }: { report: TokenReport }) {
  const ok = report.fix === undefined
  return (
    <Alert
      color={ok ? 'waybill' : 'red'}
      icon={ok ? <IconCircleCheck /> : <IconAlertCircle />}
      title={ok ? t`The token works` : t`This token cannot be used`}
      role={ok ? 'status' : 'alert'}
    >
      <Stack gap="xs" style={{ overflowWrap: 'anywhere' }}>
        <Text size="sm">{say(report, 'message')}</Text>
        {report.fix !== undefined && (
          <Text size="sm" fw={600}>
            {say({ fix: report.fix, facts: report.facts }, 'fix')}
          </Text>
        )}
        {report.permissions.length > 0 && (
          <DescriptionList items={[{ name: t`Permissions`, value: report.permissions.join(', ') }]} />
        )}
      </Stack>
    </Alert>
  )
}

function NumberSection({ accessToken, report }: Inspected) {
  const { accountId } = useAccount()
  const navigate = useNavigate()
  const numbers = report.accounts.flatMap((account) => account.numbers.map((number) => ({ ...number, account })))
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { phoneNumberId: numbers.length === 1 ? (numbers[0]?.phoneNumberId ?? '') : '', appSecret: '' },
    validate: { phoneNumberId: (id) => (id === '' ? t`Choose a number.` : null) },
  })
  const add = useFormChange(form, {
    change: api.whatsAppAccount.add.mutate,
    invalidates: [whatsAppAccountsKey(accountId), healthKey(accountId)],
    onDone: ({ whatsAppAccountId }) => void navigate(`/${accountId}/whatsapp-accounts/${whatsAppAccountId}`),
  })
  if (numbers.length === 0) return null
  const submit = form.onSubmit(({ phoneNumberId, appSecret }) => {
    const wabaId = numbers.find((number) => number.phoneNumberId === phoneNumberId)?.account.wabaId ?? ''
    add.submit({
      accountId,
      accessToken,
      phoneNumberId,
      wabaId,
      ...(appSecret.trim() !== '' && { appSecret: appSecret.trim() }),
    })
  })
  return (
    <Section
      title={t`2. Phone number`}
      description={t`Waybill stores the token encrypted, and subscribes to the statuses of this number’s messages.`}
    >
      <Form onSubmit={submit} failure={t`Number not connected`} problem={add.problem}>
        <Radio.Group label={t`Numbers that this token may use`} {...form.getInputProps('phoneNumberId')}>
          <Stack gap="xs" mt="xs">
            {numbers.map((number) => (
              <Radio
                key={number.phoneNumberId}
                value={number.phoneNumberId}
                label={<NumberLabel number={number} account={number.account} />}
              />
            ))}
          </Stack>
        </Radio.Group>
        <AppSecretField
          label={t`App secret (optional)`}
          {...form.getInputProps('appSecret')}
          description={t`It proves that statuses come from Meta. Leave it empty if the operator of this server has set META_APP_SECRET for your app. You find it in your Meta app under App settings → Basic → App secret → Show.`}
        />
        <Group>
          <Button type="submit" loading={add.isPending}>{t`Connect number`}</Button>
        </Group>
      </Form>
    </Section>
  )
}

interface NumberLabelProps {
  number: ConnectableAccount['numbers'][number]
  account: ConnectableAccount
}

function NumberLabel({ number, account }: NumberLabelProps) {
  return (
    <Group gap="xs">
      <Text component="span" size="sm" fw={600}>
        {nameNumber(number)}
      </Text>
      <Text component="span" size="sm" c="dimmed">
        {[number.verifiedName, account.name].filter((name) => name !== undefined).join(' · ')}
      </Text>
      {number.onBusinessApp === true ? (
        <StatusBadge tone="good">{t`Also in the WhatsApp Business app`}</StatusBadge>
      ) : isRegistered(number) ? (
        <StatusBadge tone="good">{t`Registered`}</StatusBadge>
      ) : (
        <StatusBadge tone="neutral">{t`Not registered yet`}</StatusBadge>
      )}
    </Group>
  )
}
