// Writes what `.ci/run` shows: a line when a step ends, and at the end all failed and flaky tests with the totals.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

const [, , command, work, name, status, seconds] = process.argv;

const jestReport = (file) =>
  existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
const failedFiles = (report) =>
  (report?.testResults ?? []).filter((file) => file.status === 'failed').map((file) => file.name);
const path = (file) => file.replace(`${process.cwd()}/`, '');
const testsIn = (file, state) =>
  file.assertionResults.filter((test) => test.status === state).map((test) => test.fullName);

function tail(file, lines) {
  const text = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  return text.slice(-lines).join('\n');
}

/** Failed tests of a suite. Tests that pass in the second run are flaky. */
function judge(first, second) {
  const failed = [];
  const flaky = [];
  for (const file of first.testResults.filter((one) => one.status === 'failed')) {
    const again = second?.testResults.find((one) => one.name === file.name);
    const tests = testsIn(file, 'failed');
    const stillFailed = again ? testsIn(again, 'failed') : tests;
    if (tests.length === 0) tests.push('(the file could not run)');
    for (const test of tests) {
      const passes =
        again?.status === 'passed' || (again && testsIn(again, 'passed').includes(test));
      (passes ? flaky : failed).push(`${path(file.name)} › ${test}`);
    }
    for (const test of stillFailed) {
      if (!tests.includes(test)) failed.push(`${path(file.name)} › ${test} (second run only)`);
    }
  }
  return { failed, flaky };
}

function record(result) {
  const { failed, flaky } = result;
  const word = failed.length === 0 ? 'ok' : 'FAILED';
  console.log(
    `--- ${name}: ${word} after ${seconds} s, ${result.passed} passed, ${failed.length} failed`,
  );
  for (const test of failed) console.log(`    FAILED ${test}`);
  for (const test of flaky) console.log(`    flaky: ${test}`);
  appendFileSync(`${work}/results.ndjson`, `${JSON.stringify({ name, seconds, ...result })}\n`);
}

const commands = {
  'failed-files': () => failedFiles(jestReport(work)).forEach((file) => console.log(file)),
  step: () => {
    const failed = status === '0' ? [] : [`${name} (exit ${status})`];
    record({ passed: status === '0' ? 1 : 0, failed, flaky: [] });
  },
  suite: () => {
    const first = jestReport(`${work}/${name}.json`);
    if (!first)
      return record({
        passed: 0,
        failed: [`${name} ended without a report (exit ${status})`],
        flaky: [],
      });
    const { failed, flaky } = judge(first, jestReport(`${work}/${name}-again.json`));
    if (status !== '0' && failed.length + flaky.length === 0)
      failed.push(`${name} (exit ${status})`);
    record({ passed: first.numPassedTests + flaky.length, failed, flaky });
  },
  summary: () => {
    const results = readFileSync(`${work}/results.ndjson`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const { name: step, failed, flaky } of results) {
      if (failed.length + flaky.length === 0) continue;
      for (const log of [step, `${step}-again`]) {
        if (existsSync(`${work}/${log}.log`))
          console.log(`\n=== ${log}\n${tail(`${work}/${log}.log`, 400)}`);
      }
    }
    console.log(
      '\nSeconds: ' + results.map(({ name: step, seconds: time }) => `${step} ${time}`).join(', '),
    );
    for (const { flaky } of results) for (const test of flaky) console.log(`flaky: ${test}`);
    for (const { failed } of results) for (const test of failed) console.log(`FAILED ${test}`);
    const sum = (count) => results.reduce((total, result) => total + count(result), 0);
    const failures = sum(({ failed }) => failed.length);
    console.log(`\n${sum(({ passed }) => passed)} passed, ${failures} failed`);
    process.exitCode = failures > 0 ? 1 : 0;
  },
};
commands[command]();
