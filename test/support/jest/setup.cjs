/** Each CI run has the same random cases. A local run finds new cases. */
if (process.env.CI) require('fast-check').configureGlobal({ seed: 20261127 });
