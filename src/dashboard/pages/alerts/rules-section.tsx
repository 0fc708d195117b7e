import { t } from '@lingui/core/macro'
import { Checkbox, Group, type InputWrapperProps, SimpleGrid, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import {
  type AlertRules,
  defaultAlertRules,
  failureRateMinMessagesRange,
  noStatusMinMessagesRange,
} from '../../../../contracts/dashboard/alert.ts'
import { formatNumber } from '../../language/format.ts'
import { api } from '../../api/client.ts'
import { useFormChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'
import { checkWholeNumber, type NumberRange, readWholeNumber, type TypedNumber } from '../../ui/whole-number.ts'
import { TimeZoneField, WholeNumberField } from '../../ui/fields.tsx'
import { alertsKey } from './use-alerts.ts'
import { Form } from '../../ui/form.tsx'

/** A field keeps its value while its switch is off. An empty number field has the value ''. */
function toForm({
  failureRatePercent,
  failureRateMinMessages,
  deliveryLagSeconds,
  noStatusMinMessages,
  quietHours,
  repeatHours,
}: AlertRules) {
  return {
    failureRate: failureRatePercent !== null,
    failureRatePercent: failureRatePercent ?? defaultAlertRules.failureRatePercent ?? 20,
    failureRateMinMessages,
    deliveryLag: deliveryLagSeconds !== null,
    deliveryLagMinutes: toMinutes(deliveryLagSeconds ?? defaultAlertRules.deliveryLagSeconds ?? 300),
    noStatus: noStatusMinMessages !== null,
    noStatusMinMessages: noStatusMinMessages ?? defaultAlertRules.noStatusMinMessages ?? 10,
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

/** Rounds up, because the command line accepts seconds. */
function toMinutes(seconds: number): number {
  return Math.ceil(seconds / 60)
}

/** Keeps the exact seconds of an unchanged delay. */
function toSeconds(minutes: number | null, { deliveryLagSeconds: stored }: AlertRules): number | null {
  if (minutes === null) return null
  return stored !== null && toMinutes(stored) === minutes ? stored : minutes * 60
}

function toRules(form: RulesForm, stored: AlertRules): AlertRules {
  const minMessages = form.failureRate ? readNumber(form, 'failureRateMinMessages') : null
  return {
    failureRatePercent: form.failureRate ? readNumber(form, 'failureRatePercent') : null,
    failureRateMinMessages: minMessages ?? stored.failureRateMinMessages,
    deliveryLagSeconds: toSeconds(form.deliveryLag ? readNumber(form, 'deliveryLagMinutes') : null, stored),
    noStatusMinMessages: form.noStatus ? readNumber(form, 'noStatusMinMessages') : null,
    quietHours: form.quiet ? form.quietHours : null,
    repeatHours: form.repeats ? readNumber(form, 'repeatHours') : null,
  }
}

function changesBetween(stored: AlertRules, next: AlertRules): Partial<AlertRules> {
  const entries = Object.entries(next) as [keyof AlertRules, unknown][]
  return Object.fromEntries(entries.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(stored[name])))
}

const ranges = {
  failureRatePercent: { min: 1, max: 100 },
  failureRateMinMessages: failureRateMinMessagesRange,
  deliveryLagMinutes: { min: 1, max: 1440 },
  noStatusMinMessages: noStatusMinMessagesRange,
  repeatHours: { min: 1, max: 168 },
} as const satisfies Record<string, NumberRange>

const minRange = ranges.failureRateMinMessages
const noStatusRange = ranges.noStatusMinMessages

/** Puts the description below the input, so that inputs beside each other are aligned however long it is. */
const descriptionBelow: InputWrapperProps['inputWrapperOrder'] = ['label', 'input', 'description', 'error']

/** Reads a field that has passed validation. */
function readNumber(form: RulesForm, name: keyof typeof ranges): number | null {
  return readWholeNumber(form[name], ranges[name]) ?? null
}

function checkNumber(name: keyof typeof ranges, isOn: (form: RulesForm) => boolean) {
  return (typed: TypedNumber, form: RulesForm) => (isOn(form) ? checkWholeNumber(typed, ranges[name]) : null)
}

export function RulesSection({ rules: current }: { rules: AlertRules }) {
  const { accountId, canChange } = useAccount()
  // What the form started from: compared with a later state, saving would revert changes of other members.
  const [rules, setRules] = useState(current)
  const form = useForm({
    initialValues: toForm(rules),
    validate: {
      failureRatePercent: checkNumber('failureRatePercent', ({ failureRate }) => failureRate),
      failureRateMinMessages: checkNumber('failureRateMinMessages', ({ failureRate }) => failureRate),
      deliveryLagMinutes: checkNumber('deliveryLagMinutes', ({ deliveryLag }) => deliveryLag),
      noStatusMinMessages: checkNumber('noStatusMinMessages', ({ noStatus }) => noStatus),
      repeatHours: checkNumber('repeatHours', ({ repeats }) => repeats),
    },
  })
  const save = useFormChange(form, {
    // Only what has changed, because the audit log names what was given.
    change: (next: AlertRules) => api.alert.update.mutate({ accountId, ...changesBetween(rules, next) }),
    invalidates: [alertsKey(accountId)],
    done: t`Alert rules saved.`,
    onDone: (_saved, next) => setRules(next),
  })
  const { values } = form
  const field = (name: string) => ({ disabled: !canChange, ...form.getInputProps(name) })
  const number = (name: keyof typeof ranges) => ({
    ...ranges[name],
    inputWrapperOrder: descriptionBelow,
    ...field(name),
  })
  const toggle = (name: string) => ({ disabled: !canChange, ...form.getInputProps(name, { type: 'checkbox' }) })
  const submit = form.onSubmit((changed) => save.submit(toRules(changed, rules)))
  return (
    <Section title={t`Rules`} description={t`Thresholds, quiet hours and repetition.`}>
      <Form onSubmit={submit} gap="md" maw={520} failure={t`The rules were not saved`} problem={save.problem}>
        <Switch label={t`Alert if many messages fail`} {...toggle('failureRate')} />
        {values.failureRate && (
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <WholeNumberField
              label={t`Failure rate in percent`}
              description={t`Of the messages of the last hour: 1 to 100.`}
              {...number('failureRatePercent')}
            />
            <WholeNumberField
              label={t`Minimum number of messages`}
              description={t`No alert if the last hour has fewer: ${formatNumber(minRange.min)} to ${formatNumber(minRange.max)}.`}
              {...number('failureRateMinMessages')}
            />
          </SimpleGrid>
        )}
        <Switch label={t`Alert if webhook deliveries are late`} {...toggle('deliveryLag')} />
        {values.deliveryLag && (
          <WholeNumberField
            maw={250}
            label={t`Delay in minutes`}
            description={t`Of the oldest waiting delivery: 1 to ${formatNumber(ranges.deliveryLagMinutes.max)}.`}
            {...number('deliveryLagMinutes')}
          />
        )}
        <Switch label={t`Alert if no statuses arrive`} {...toggle('noStatus')} />
        {values.noStatus && (
          <WholeNumberField
            maw={250}
            label={t`Messages without a status`}
            description={t`Of the last hour, accepted at least ten minutes ago: ${formatNumber(noStatusRange.min)} to ${formatNumber(noStatusRange.max)}.`}
            {...number('noStatusMinMessages')}
          />
        )}
        <Switch
          label={t`Quiet hours`}
          description={t`Alerts that begin in these hours are sent when they end.`}
          {...toggle('quiet')}
        />
        {values.quiet && (
          <>
            <Group grow align="flex-start">
              <TextInput type="time" label={t`From`} {...field('quietHours.from')} />
              <TextInput type="time" label={t`Until`} {...field('quietHours.until')} />
            </Group>
            <TimeZoneField {...field('quietHours.timeZone')} />
            <Checkbox label={t`Send critical alerts at once`} {...toggle('quietHours.exceptCritical')} />
          </>
        )}
        <Switch label={t`Repeat alerts until they are acknowledged`} {...toggle('repeats')} />
        {values.repeats && (
          <WholeNumberField
            maw={250}
            label={t`Hours between repetitions`}
            description={t`1 to ${ranges.repeatHours.max}.`}
            {...number('repeatHours')}
          />
        )}
        <Group>
          <ChangeButton type="submit" variant="default" loading={save.isPending}>{t`Save rules`}</ChangeButton>
        </Group>
      </Form>
    </Section>
  )
}
