import { Autocomplete, Checkbox, Group, NumberInput, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { type AlertRules, defaultAlertRules } from '../../../../contracts/dashboard/alert.ts'
import { readFailure } from '../../api/failure.ts'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { alertsKey } from './use-alerts.ts'

/** A value stays in its field while its switch is off. */
function toForm({ failureRatePercent, deliveryLagSeconds, quietHours, repeatHours }: AlertRules) {
  return {
    failureRate: failureRatePercent !== null,
    failureRatePercent: failureRatePercent ?? defaultAlertRules.failureRatePercent ?? 20,
    deliveryLag: deliveryLagSeconds !== null,
    deliveryLagSeconds: deliveryLagSeconds ?? defaultAlertRules.deliveryLagSeconds ?? 300,
    quiet: quietHours !== null,
    timeZone: quietHours?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    from: quietHours?.from ?? '22:00',
    until: quietHours?.until ?? '07:00',
    exceptCritical: quietHours?.exceptCritical ?? true,
    repeats: repeatHours !== null,
    repeatHours: repeatHours ?? 4,
  }
}

function toRules(form: ReturnType<typeof toForm>): AlertRules {
  const { timeZone, from, until, exceptCritical } = form
  return {
    failureRatePercent: form.failureRate ? form.failureRatePercent : null,
    deliveryLagSeconds: form.deliveryLag ? form.deliveryLagSeconds : null,
    quietHours: form.quiet ? { timeZone, from, until, exceptCritical } : null,
    repeatHours: form.repeats ? form.repeatHours : null,
  }
}

export function RulesSection({ rules }: { rules: AlertRules }) {
  const { accountId, canChange } = useAccount()
  const [problem, setProblem] = useState<string>()
  const form = useForm({ initialValues: toForm(rules) })
  const save = useChange({
    change: (changed: AlertRules) => settings.alert.update.mutate({ accountId, ...changed }),
    invalidates: [alertsKey(accountId)],
    done: 'Alert rules saved.',
    onFailure: (error) => setProblem(readFailure(error).message),
  })
  const { values } = form
  const field = (name: keyof typeof values, isOn: boolean) => ({
    disabled: !canChange || !isOn,
    ...form.getInputProps(name),
  })
  const toggle = (name: keyof typeof values) => ({
    disabled: !canChange,
    ...form.getInputProps(name, { type: 'checkbox' }),
  })
  const submit = form.onSubmit((changed) => {
    setProblem(undefined)
    save.mutate(toRules(changed))
  })
  return (
    <Section title="Rules" description="When you are alerted, and when not.">
      <form onSubmit={submit} noValidate>
        <Stack gap="md" maw={520}>
          {problem !== undefined && <ErrorAlert title="The rules were not saved" error={problem} />}
          <Switch label="Alert if many messages fail" {...toggle('failureRate')} />
          <NumberInput
            label="Failure rate in percent"
            description="Of at least 20 messages in the last hour."
            min={1}
            max={100}
            allowDecimal={false}
            {...field('failureRatePercent', values.failureRate)}
          />
          <Switch label="Alert if webhook deliveries are late" {...toggle('deliveryLag')} />
          <NumberInput
            label="Delay in seconds"
            min={30}
            max={86_400}
            allowDecimal={false}
            {...field('deliveryLagSeconds', values.deliveryLag)}
          />
          <Switch
            label="Quiet hours"
            description="Alerts that begin in these hours are sent when they end."
            {...toggle('quiet')}
          />
          <Group grow>
            <TextInput type="time" label="From" {...field('from', values.quiet)} />
            <TextInput type="time" label="Until" {...field('until', values.quiet)} />
          </Group>
          <Autocomplete
            label="Time zone"
            data={Intl.supportedValuesOf('timeZone')}
            limit={20}
            {...field('timeZone', values.quiet)}
          />
          <Checkbox
            label="Send critical alerts at once"
            {...form.getInputProps('exceptCritical', { type: 'checkbox' })}
            disabled={!canChange || !values.quiet}
          />
          <Switch label="Repeat alerts until they are acknowledged" {...toggle('repeats')} />
          <NumberInput
            label="Hours between repetitions"
            min={1}
            max={168}
            allowDecimal={false}
            {...field('repeatHours', values.repeats)}
          />
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
