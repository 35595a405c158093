/** The same random cases in each CI run. A local run finds new cases. */
if (process.env.CI) require('fast-check').configureGlobal({ seed: 20261127 });
