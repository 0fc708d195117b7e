import { Autocomplete, Checkbox, Group, NumberInput, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { type AlertRules, defaultAlertRules } from '../../../../contracts/dashboard/alert.ts'
import { showInForm } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { alertsKey } from './use-alerts.ts'

/** A value stays in its field while its switch is off. An empty number field has the value ''. */
function toForm({ failureRatePercent, deliveryLagSeconds, quietHours, repeatHours }: AlertRules) {
  return {
    failureRate: failureRatePercent !== null,
    failureRatePercent: failureRatePercent ?? defaultAlertRules.failureRatePercent ?? 20,
    deliveryLag: deliveryLagSeconds !== null,
    deliveryLagSeconds: deliveryLagSeconds ?? defaultAlertRules.deliveryLagSeconds ?? 300,
    quiet: quietHours !== null,
    quietHours: quietHours ?? {
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      from: '22:00',
      until: '07:00',
      exceptCritical: true,
    },
    repeats: repeatHours !== null,
    repeatHours: repeatHours ?? 4,
  }
}

type RulesForm = ReturnType<typeof toForm>

function toRules(form: RulesForm): AlertRules {
  return {
    failureRatePercent: form.failureRate ? form.failureRatePercent : null,
    deliveryLagSeconds: form.deliveryLag ? form.deliveryLagSeconds : null,
    quietHours: form.quiet ? form.quietHours : null,
    repeatHours: form.repeats ? form.repeatHours : null,
  }
}

function requireNumber(isOn: (form: RulesForm) => boolean) {
  return (value: unknown, form: RulesForm) => (isOn(form) && typeof value !== 'number' ? 'Enter a number.' : null)
}

export function RulesSection({ rules }: { rules: AlertRules }) {
  const { accountId, canChange } = useAccount()
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    initialValues: toForm(rules),
    validate: {
      failureRatePercent: requireNumber(({ failureRate }) => failureRate),
      deliveryLagSeconds: requireNumber(({ deliveryLag }) => deliveryLag),
      repeatHours: requireNumber(({ repeats }) => repeats),
    },
  })
  const save = useChange({
    change: (changed: AlertRules) => api.alert.update.mutate({ accountId, ...changed }),
    invalidates: [alertsKey(accountId)],
    done: 'Alert rules saved.',
    onFailure: (error) => setProblem(showInForm(form, error)),
  })
  const { values } = form
  const field = (name: string) => ({ disabled: !canChange, ...form.getInputProps(name) })
  const toggle = (name: string) => ({ disabled: !canChange, ...form.getInputProps(name, { type: 'checkbox' }) })
  const submit = form.onSubmit((changed) => {
    setProblem(undefined)
    save.mutate(toRules(changed))
  })
  return (
    <Section title="Rules" description="Thresholds, quiet hours and repetition.">
      <form onSubmit={submit} noValidate>
        <Stack gap="md" maw={520}>
          {problem !== undefined && <ErrorAlert title="The rules were not saved" error={problem} />}
          <Switch label="Alert if many messages fail" {...toggle('failureRate')} />
          {values.failureRate && (
            <NumberInput
              label="Failure rate in percent"
              description="Of at least 20 messages in the last hour."
              min={1}
              max={100}
              allowDecimal={false}
              {...field('failureRatePercent')}
            />
          )}
          <Switch label="Alert if webhook deliveries are late" {...toggle('deliveryLag')} />
          {values.deliveryLag && (
            <NumberInput
              label="Delay in seconds"
              min={30}
              max={86_400}
              allowDecimal={false}
              {...field('deliveryLagSeconds')}
            />
          )}
          <Switch
            label="Quiet hours"
            description="Alerts that begin in these hours are sent when they end."
            {...toggle('quiet')}
          />
          {values.quiet && (
            <>
              <Group grow align="flex-start">
                <TextInput type="time" label="From" {...field('quietHours.from')} />
                <TextInput type="time" label="Until" {...field('quietHours.until')} />
              </Group>
              <Autocomplete
                label="Time zone"
                data={Intl.supportedValuesOf('timeZone')}
                limit={20}
                {...field('quietHours.timeZone')}
              />
              <Checkbox label="Send critical alerts at once" {...toggle('quietHours.exceptCritical')} />
            </>
          )}
          <Switch label="Repeat alerts until they are acknowledged" {...toggle('repeats')} />
          {values.repeats && (
            <NumberInput
              label="Hours between repetitions"
              min={1}
              max={168}
              allowDecimal={false}
              {...field('repeatHours')}
            />
          )}
          <Group>
            <ChangeButton type="submit" variant="default" loading={save.isPending}>
              Save rules
            </ChangeButton>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
